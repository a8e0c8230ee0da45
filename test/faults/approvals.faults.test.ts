import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import type { Approval } from '../support/approver.ts'
import { startProcess } from '../support/process.ts'
import { callService, RECEIVER, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'

let anvil: Anvil
let folder: string

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  folder = await mkdtemp(join(tmpdir(), 'relayer-approvals-'))
})
afterAll(async () => {
  await anvil.stop()
  await rm(folder, { recursive: true })
})

const ALL = '/relayers/main/transactions'

test('after kill -9 at any time, an answered decision holds, and nothing without an approval is signed', async () => {
  const start = () => startProcess({ rpcUrl: anvil.url, folder })
  let service = await start()
  const call = <Data>(method: string, path: string, body?: object, authorization?: string) =>
    callService<Data>(service.url, {
      method,
      path,
      body,
      ...(authorization && { headers: { authorization } }),
    })
  const scopes = ['transactions:read', 'transactions:write']
  const rules = { require_approval: {}, limits: [{ per: 'day', value: '1000', count: 1000 }] }
  const issued = await call<{ id: string; secret: string }>('POST', '/api-keys', {
    name: 'Asks',
    scopes,
    rules,
  })
  const { id: key, secret } = issued.body.data
  const ask = async () =>
    (await call<Transaction>('POST', ALL, { to: RECEIVER, value: 1 }, `Bearer ${secret}`)).body.data.id
  const list = async () => (await call<Transaction[]>('GET', `${ALL}?per_page=100`)).body.data
  const answered = new Map<string, string>()
  const asked: string[] = []
  const decide = (id: string, decision: 'approve' | 'refuse') =>
    call<Approval>('POST', `${ALL}/${id}/approval`, { decision })
      .then(({ body }) => void answered.set(id, body.data.state))
      .catch((error: unknown) => {
        // Killed before it answered: decided or not, no one was told.
        if (!(error instanceof TypeError)) throw error
      })
  // Killed at different distances from the first decision, so that each round dies in another step of the path.
  for (const delayMs of [0, 3, 7, 13, 25]) {
    const ids = await Promise.all(Array.from({ length: 5 }, ask))
    asked.push(...ids)
    // The last one is left for no one.
    const rest = Promise.all(
      ids.slice(0, 4).map((id, index) => decide(id, index % 2 === 0 ? 'approve' : 'refuse')),
    )
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    await service.kill()
    await rest
    service = await start()
    for (const [id, state] of answered)
      expect((await call<Approval>('GET', `${ALL}/${id}/approval`)).body.data.state).toBe(state)
  }
  await until(
    async () => {
      await anvil.rpc('evm_mine')
      return list()
    },
    (transactions) =>
      transactions.every(
        ({ status, awaits_approval }) =>
          awaits_approval === true || ['confirmed', 'canceled'].includes(status),
      ),
  )
  const records = new Map((await list()).map((record) => [record.id, record]))
  let [paid, waiting] = [0, 0]
  for (const id of asked) {
    const { state } = (await call<Approval>('GET', `${ALL}/${id}/approval`)).body.data
    const record = records.get(id)
    expect(record?.status).toBe({ approved: 'confirmed', refused: 'canceled', waiting: 'pending' }[state])
    if (state !== 'approved') expect(record?.hash).toBeUndefined()
    if (state === 'approved') paid += 1
    if (state === 'waiting') waiting += 1
  }
  expect(waiting).toBeGreaterThanOrEqual(5)
  const usage = await until(
    async () =>
      (await call<{ limits: { value: { spent: string } }[] }>('GET', `/api-keys/${key}/usage`)).body.data,
    ({ limits: [limit] }) => limit?.value.spent === String(paid + waiting),
  )
  expect(usage.limits).toHaveLength(1)
  expect(await service.terminate()).toBe(0)
}, 120_000)
