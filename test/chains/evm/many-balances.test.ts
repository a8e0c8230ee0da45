import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccountReader } from '../../../src/chains/evm/read/accounts.ts'
import { MANY_BALANCES } from '../../../src/chains/evm/read/many-balances.ts'
import { NODE_DIALECT } from '../../../src/chains/evm/read/node-dialect.ts'
import { createRpcClient } from '../../../src/chains/rpc/client.ts'
import { createLogger } from '../../../src/log.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { createTestClock } from '../../support/clock.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'

let anvil: Anvil
let nodes: readonly FaultyNode[]
beforeAll(async () => {
  anvil = await startAnvil()
  nodes = await Promise.all([1, 2, 3].map(() => startFaultyNode(anvil.url)))
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await anvil.stop()
})

const addressOf = (index: number) => privateKeyToAddress(`0x${(index + 1).toString(16).padStart(64, '0')}`)

/** A reader through so many of the nodes, whose calls are counted from here on. */
function readerThrough(count: number) {
  const used = nodes.slice(0, count)
  for (const node of used) {
    node.calls.clear()
    node.habits = undefined
  }
  const clock = createTestClock()
  const client = createRpcClient({
    ...NODE_DIALECT,
    urls: used.map(({ url }) => ({ url, weight: 100 })),
    timeoutMs: 5_000,
    clock,
    log: createLogger({ level: 'silent' }),
  })
  const asked = (method: string) => used.reduce((sum, { calls }) => sum + (calls.get(method) ?? 0), 0)
  return { reader: createAccountReader(client, 12_000, clock), clock, asked, used }
}

async function setBalance(address: string, wei: bigint): Promise<void> {
  await anvil.rpc('anvil_setBalance', [address, `0x${wei.toString(16)}`])
}

test('one call reads up to 750 balances on a chain without any contract, exactly', async () => {
  const { reader, asked } = readerThrough(1)
  const addresses = Array.from({ length: MANY_BALANCES + 1 }, (_, index) => addressOf(index))
  const largest = 2n ** 256n - 1n
  await setBalance(addressOf(1), 123_456_789_012_345_678_901n)
  await setBalance(addressOf(2), largest)
  await setBalance(addressOf(MANY_BALANCES), 1n)
  const balances = await reader.balances(addresses)
  expect(balances).toHaveLength(MANY_BALANCES + 1)
  expect(balances.slice(0, 3)).toEqual(
    [0n, 123_456_789_012_345_678_901n, largest].map((value) => ({ kind: 'ok', value })),
  )
  expect(balances.at(-1)).toEqual({ kind: 'ok', value: 1n })
  // One of them is compared with what the node says of it alone.
  expect([asked('eth_call'), asked('eth_getBalance')]).toEqual([2, 1])
})

test('one endpoint of three that lies about many balances changes none of them', async () => {
  const { reader, used } = readerThrough(3)
  const addresses = [1, 2, 3].map(addressOf)
  await setBalance(addressOf(3), 7n)
  const [liar] = used
  if (liar === undefined) throw new Error('there is no node')
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  liar.habits = {
    lie: (call, reply) =>
      call.method === 'eth_call' ? { ...reply, result: `0x${word(0n).repeat(3)}` } : reply,
  }
  const read = async () => (await reader.balances(addresses)).map((one) => one.kind === 'ok' && one.value)
  const told = await Promise.all([read(), read()])
  expect(told).toEqual([told[0], told[0]])
  expect(told[0]?.[2]).toBe(7n)
})

test('on a chain whose programs see balances in another unit, the balances are those that its nodes tell', async () => {
  const { reader, asked, used } = readerThrough(1)
  const [node] = used
  if (node === undefined) throw new Error('there is no node')
  const coin = 10n ** 18n
  const words = [coin, 2n * coin].map((value) => (value / 10n ** 10n).toString(16).padStart(64, '0'))
  node.habits = {
    lie: ({ method }, reply) => (method === 'eth_call' ? { ...reply, result: `0x${words.join('')}` } : reply),
  }
  const addresses = [21, 22].map(addressOf)
  await setBalance(addressOf(21), coin)
  await setBalance(addressOf(22), 2n * coin)
  const expected = [coin, 2n * coin].map((value) => ({ kind: 'ok', value }))
  expect(await reader.balances(addresses)).toEqual(expected)
  expect(await reader.balances(addresses)).toEqual(expected)
  expect([asked('eth_call'), reader.balancesPerCall()]).toEqual([1, 1])
})

test('where an endpoint refuses that, a few are read one by one, the others later, and it is asked again in an hour', async () => {
  const { reader, clock, asked, used } = readerThrough(1)
  const [node] = used
  if (node === undefined) throw new Error('there is no node')
  node.habits = {
    refuse: ({ method }) =>
      method === 'eth_call'
        ? { code: -32602, message: 'missing value for required argument "to"' }
        : undefined,
  }
  const addresses = Array.from({ length: 12 }, (_, index) => addressOf(index))
  expect(reader.balancesPerCall()).toBe(MANY_BALANCES)
  const first = await reader.balances(addresses)
  expect(first.map(({ kind }) => kind)).toEqual([...Array(10).fill('ok'), 'unknown', 'unknown'])
  await reader.balances(addresses)
  expect([asked('eth_call'), asked('eth_getBalance'), reader.balancesPerCall()]).toEqual([1, 20, 1])
  clock.advance(3_600_000)
  expect(reader.balancesPerCall()).toBe(MANY_BALANCES)
})
