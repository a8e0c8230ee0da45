import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startAnvil } from '../../support/anvil.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { countOf, issue, post, request } from './wallet-site.ts'

let story: Scenario
beforeAll(async () => {
  story = await startScenario({ policies: { wallet_rpc: true } })
}, 60_000)
afterAll(() => story.stop())

const hex = (value: bigint) => `0x${value.toString(16)}`
const pendingCount = async () =>
  BigInt(String(await request(story.service, 'eth_getTransactionCount', DEV_ADDRESSES[0], 'pending')))
const sendTo = (
  service: Service,
  { nonce, value = '0x1', secret }: { nonce: bigint; value?: string | undefined; secret?: string },
) =>
  post(
    service,
    {
      id: 1,
      method: 'eth_sendTransaction',
      params: [{ from: DEV_ADDRESSES[0], to: RECEIVER, value, nonce: hex(nonce) }],
    },
    secret === undefined ? {} : { secret },
  )

const send = (nonce: bigint, value?: string) => sendTo(story.service, { nonce, value })

test('eth_sendTransaction takes the next nonce of the account, and the next one after it', async () => {
  const nonce = await pendingCount()
  const first = await send(nonce)
  const second = await send(nonce + 1n)
  expect([first.error, second.error]).toEqual([undefined, undefined])
  expect(await pendingCount()).toBe(nonce + 2n)
  await story.settle()
  const sent = await request(story.service, 'eth_getTransactionByHash', second.result)
  expect(sent).toMatchObject({ nonce: hex(nonce + 1n), to: RECEIVER.toLowerCase() })
})

test('eth_sendTransaction with the same nonce and content is the same transaction, whenever it comes', async () => {
  const nonce = await pendingCount()
  const before = (await countOf(story)) ?? 0
  const answers = await Promise.all([send(nonce), send(nonce), send(nonce)])
  await story.settle()
  const late = await send(nonce)
  expect(new Set([...answers, late].map(({ result }) => result)).size).toBe(1)
  expect(await countOf(story)).toBe(before + 1)
})

test('eth_sendTransaction refuses another content with a used nonce, and names the transaction that has it', async () => {
  const nonce = await pendingCount()
  const { result } = await send(nonce)
  const { body } = await story.service.api<{ id: string }[]>('GET', `/transactions?hash=${result}`)
  const { error } = await send(nonce, '0x2')
  expect(error).toMatchObject({ code: -32003, data: { transactionId: body.data[0]?.id } })
  expect(error?.message).toContain(`PUT …/transactions/${body.data[0]?.id}`)
  await story.settle()
})

test.each([
  ['the same content', '0x1'],
  ['another content', '0x2'],
])(
  'eth_sendTransaction takes a nonce again with %s after a cancellation before it was numbered',
  async (_what, value) => {
    const secret = await issue(story.service, {
      scopes: ['rpc', 'transactions:write'],
      rules: { require_approval: {} },
    })
    const nonce = await pendingCount()
    const waiting = await sendTo(story.service, { nonce, secret })
    const { transactionId: id } = Object(waiting.error?.data) as { transactionId?: string }
    const taken = await send(nonce, '0x3')
    expect(taken.error).toMatchObject({ code: -32003, data: { transactionId: id } })
    await story.service.api('DELETE', `/relayers/main/transactions/${id}`)

    const sent = await send(nonce, value)
    expect(sent.error).toBeUndefined()
    expect((await send(nonce, value)).result).toBe(sent.result)
    await story.settle()
    const found = await request(story.service, 'eth_getTransactionByHash', sent.result)
    expect(found).toMatchObject({ nonce: hex(nonce), value })
  },
)

test.each([
  ['before the next one', -1n],
  ['after the next one', 1n],
])('eth_sendTransaction refuses a nonce %s, with the next one', async (_what, offset) => {
  // Nothing of this service has the nonce before.
  await story.service.api('POST', '/relayers/main/transactions', { to: RECEIVER, value: 1 })
  await story.settle()
  const next = await pendingCount()
  const { error } = await send(next + offset)
  expect(error).toMatchObject({ code: -32602 })
  expect(error?.message).toContain(`nonce: ${next} is the next one of relayer main, not ${next + offset}.`)
})

test('eth_getTransactionCount counts what is accepted and has no nonce yet', async () => {
  const next = await pendingCount()
  await story.service.api('POST', '/relayers/main/transactions/batch', {
    transactions: [1, 2, 3].map((value) => ({ to: RECEIVER, value, speed: 'fast' })),
  })
  expect(await pendingCount()).toBe(next + 3n)
  await story.settle()
  expect(await pendingCount()).toBe(next + 3n)
})

test('a nonce counts from the beginning on a chain that was reset', async () => {
  // Block 0 of anvil differs by its time only.
  const start = (port: string, timestamp: string) =>
    startAnvil({ args: ['--port', port, '--timestamp', timestamp] })
  let anvil = await start('0', '1700000000')
  const service = await startService({ rpcUrls: [anvil.url], policies: { wallet_rpc: true } })
  onTestFinished(async () => {
    await service.stop()
    await anvil.stop()
  })
  const first = await sendTo(service, { nonce: 0n })
  expect(first.error).toBeUndefined()
  await until(
    () => anvil.rpc('eth_getTransactionReceipt', [first.result]),
    (receipt) => receipt !== null,
  )
  await anvil.stop()
  anvil = await start(new URL(anvil.url).port, '1700009999')
  await until(
    () => service.api('POST', '/networks/evm:anvil/reset'),
    ({ status }) => status === 200,
  )
  // Before the reset this would be another content with a used nonce.
  expect((await sendTo(service, { nonce: 0n, value: '0x2' })).error).toBeUndefined()
})
