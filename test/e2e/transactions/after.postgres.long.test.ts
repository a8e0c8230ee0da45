import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { RECEIVER, type Service, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let anvil: Anvil
let postgres: PostgresServer
let databaseUrl: string
let services: Service[] = []

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--block-time', '1'] })
  postgres = await startPostgres()
  databaseUrl = await postgres.createDatabase()
  for (let count = 0; count < 2; count += 1)
    services.push(await startService({ rpcUrls: [anvil.url], databaseUrl }))
}, 120_000)
afterAll(async () => {
  for (const service of services) await service.stop()
  services = []
  await postgres?.stop()
  await anvil?.stop()
})

function at(index: number): Service {
  const found = services[index % services.length]
  if (found === undefined) throw new Error('no service has started')
  return found
}

const receiver = (index: number) => `0x${(0x3000_0000 + index).toString(16).padStart(40, '0')}`
const later = () => new Date(Date.now() + 3_600_000).toISOString()

async function send(service: Service, relayer: string, body: object): Promise<Transaction> {
  const path = `/relayers/${relayer}/transactions`
  const { status, body: answer } = await service.api('POST', path, { value: '1', speed: 'fast', ...body })
  if (status !== 200) throw new Error(`refused: ${answer.error}`)
  return answer.data
}

const get = async (relayer: string, id: string) =>
  (await at(0).api('GET', `/relayers/${relayer}/transactions/${id}`)).body.data

test('two processes that see the same end send what waited for it once', async () => {
  const pairs = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const isCanceled = index % 3 === 0
      const first = await send(at(index), 'main', {
        to: RECEIVER,
        ...(isCanceled && { valid_from: later() }),
      })
      const paid = receiver(index)
      const second = await send(at(index + 1), 'other', { to: paid, after: { transaction_id: first.id } })
      if (isCanceled) await at(index + 1).api('DELETE', `/relayers/main/transactions/${first.id}`)
      return { second: second.id, paid, isCanceled }
    }),
  )
  for (const { second, paid, isCanceled } of pairs) {
    await until(
      () => get('other', second),
      ({ status }) => status === (isCanceled ? 'canceled' : 'confirmed'),
    )
    expect(BigInt(await anvil.rpc<string>('eth_getBalance', [paid, 'latest']))).toBe(isCanceled ? 0n : 1n)
  }
}, 120_000)

test('an acceptance at the moment of the end of the other one misses nothing', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const first = await send(at(0), 'main', { to: RECEIVER, valid_from: later() })
      const path = `/relayers/main/transactions/${first.id}`
      const body = {
        to: receiver(100 + index),
        value: '1',
        speed: 'fast',
        after: { transaction_id: first.id },
      }
      const [, sent] = await Promise.all([
        at(0).api('DELETE', path),
        at(1).api('POST', '/relayers/other/transactions', body),
      ])
      return sent
    }),
  )
  for (const { status, body } of outcomes) {
    if (status === 400) expect(body.error).toContain('would be canceled')
    else
      await until(
        () => get('other', body.data.id),
        (seen) => seen.status === 'canceled',
      )
  }
}, 120_000)

test('an approval is decided while it waits, and both have to be over', async () => {
  const rules = { require_approval: {}, limits: [{ per: 'day', value: '1000', count: 1000 }] }
  const issued = await at(0).api<{ secret: string }>('POST', '/api-keys', {
    name: 'Asks',
    scopes: ['transactions:read', 'transactions:write'],
    rules,
  })
  const headers = { authorization: `Bearer ${issued.body.data.secret}` }
  const first = await send(at(0), 'main', { to: RECEIVER, valid_from: later() })
  const body = {
    to: RECEIVER,
    value: '1',
    speed: 'fast',
    after: { transaction_id: first.id, on_failure: 'send' },
  }
  const [decided, waiting] = await Promise.all(
    [0, 1].map(
      async () => (await at(0).api('POST', '/relayers/other/transactions', body, headers)).body.data,
    ),
  )
  if (decided === undefined || waiting === undefined) throw new Error('not sent')
  expect(decided).toMatchObject({ awaits_approval: true, awaits_transaction: true })
  const approve = (id: string) =>
    at(1).api('POST', `/relayers/other/transactions/${id}/approval`, { decision: 'approve' })
  expect((await approve(decided.id)).status).toBe(200)
  expect(await get('other', decided.id)).toMatchObject({
    status: 'pending',
    awaits_transaction: true,
    status_reason: `It waits until transaction ${first.id} of relayer main is confirmed.`,
  })
  await at(0).api('DELETE', `/relayers/main/transactions/${first.id}`)
  await until(
    () => get('other', decided.id),
    ({ status }) => status === 'confirmed',
  )
  expect(await get('other', waiting.id)).toMatchObject({ status: 'pending', awaits_approval: true })
  expect(await get('other', waiting.id)).not.toHaveProperty('awaits_transaction')
  await approve(waiting.id)
  await until(
    () => get('other', waiting.id),
    ({ status }) => status === 'confirmed',
  )
}, 60_000)
