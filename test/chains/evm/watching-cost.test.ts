import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmChain } from '../../../src/chains/evm/evm-chain.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { startRpcServer, type WireCall } from '../../support/rpc-server.ts'
import { type Fixture, insert, newTransaction, openFixture } from '../../transactions/fixture.ts'
import { SILENT_NETWORK } from '../../transactions/stub-chain.ts'

const BLOCKS = 10

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ maxInFlight: 200 })
})
afterAll(() => fixture.close())

/** A network whose blocks include nothing of ours; the test decides how high it is. */
function network() {
  const state = { height: 100 }
  const block = () => ({ number: hex(state.height), hash: `0x${state.height}`, gasLimit: hex(30_000_000) })
  const results: Record<string, () => unknown> = {
    eth_blockNumber: () => hex(state.height),
    eth_getBlockByNumber: block,
    eth_getTransactionCount: () => hex(0),
    eth_getBalance: () => hex(10 ** 18),
    eth_gasPrice: () => hex(100),
    eth_maxPriorityFeePerGas: () => hex(1),
    eth_feeHistory: () => ({ baseFeePerGas: [hex(50), hex(50)], reward: [] }),
    eth_estimateGas: () => hex(21_000),
    eth_sendRawTransaction: () => `0x${'0'.repeat(64)}`,
  }
  const answer = (calls: readonly WireCall[]) => {
    const replies = calls.map(({ id, method }) => ({ id, result: results[method]?.() ?? null }))
    return { body: replies.length === 1 ? replies[0] : replies }
  }
  return { state, answer }
}

const hex = (value: number) => `0x${value.toString(16)}`

/** The calls that watching `count` waiting transactions takes over some blocks, two looks at each, by method. */
async function callsFor(count: number): Promise<Record<string, number>> {
  const { state, answer } = network()
  const server = await startRpcServer(answer)
  const rpcUrls = [{ url: server.url, weight: 100 }]
  const { clock, log } = fixture.context
  const chain = createEvmChain({ network: { ...SILENT_NETWORK, rpcUrls }, rpcTimeoutMs: 5_000, clock, log })
  const owner = await fixture.addAccount({ chain })
  const pending = Array.from({ length: count }, () => newTransaction(owner, { nextRunAt: new Date(0) }))
  await insert(fixture.context, ...pending)
  await workAccount(fixture.context, owner.relayer.id)
  const sent = server.requests.flat().filter(({ method }) => method === 'eth_sendRawTransaction')
  expect(sent).toHaveLength(count)

  const before = server.requests.length
  const memory = createWatchMemory()
  const target = { runtime: owner.runtime, relayers: [owner.relayer], memory }
  for (let block = 0; block < BLOCKS; block += 1) {
    state.height += 1
    await watchNetwork(fixture.context, target)
    await watchNetwork(fixture.context, target)
  }
  const methods = server.requests.slice(before).flatMap((calls) => calls.map(({ method }) => method))
  await server.stop()
  return Object.fromEntries(
    [...Map.groupBy(methods, (method) => method)].map(([name, all]) => [name, all.length]),
  )
}

test('watching costs by blocks and accounts, not by waiting transactions', async () => {
  const one = await callsFor(1)
  expect(one).toEqual({
    // Two looks at each block, each with its height, and one more height for the account.
    eth_getBlockByNumber: 2 * BLOCKS,
    eth_blockNumber: 3 * BLOCKS,
    eth_getTransactionCount: BLOCKS,
  })
  expect(await callsFor(100)).toEqual(one)
})
