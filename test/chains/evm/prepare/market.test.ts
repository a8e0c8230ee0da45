import { describe, expect, test } from 'vitest'
import { createMarketWatch } from '../../../../src/chains/evm/prepare/market.ts'
import type { RpcCall, RpcClient, RpcReply } from '../../../../src/chains/rpc/rpc.ts'
import { createTestClock } from '../../../support/clock.ts'

type Results = Readonly<Record<string, unknown>>

const NODE: Results = {
  eth_feeHistory: { baseFeePerGas: ['0x5', '0x6', '0x7'], reward: [['0x1', '0x2', '0x3', '0x4']] },
  eth_gasPrice: '0xa',
  eth_maxPriorityFeePerGas: '0x8',
  eth_getBlockByNumber: { gasLimit: '0x1c9c380' },
}

function clientOf(results: Results) {
  const asked: RpcCall[] = []
  const reply = (call: RpcCall): RpcReply => {
    asked.push(call)
    const result = results[call.method]
    return result === undefined ? { kind: 'unknown', detail: 'time-out' } : { kind: 'result', result }
  }
  const client: RpcClient = {
    send: async (calls) => calls.map(reply),
    call: async (method, params) => reply({ method, params }),
  }
  return { client, asked }
}

const ask = (results: Results) =>
  createMarketWatch({ client: clientOf(results).client, clock: createTestClock(), freshForMs: 1_000 })()

describe('the market', () => {
  test('has the next block base fee, and the tips by percentile', async () => {
    expect(await ask(NODE)).toEqual({
      kind: 'ok',
      value: {
        gasPrice: 10n,
        baseFee: 7n,
        blockGasLimit: 30_000_000n,
        tips: { safeLow: 1n, average: 2n, fast: 3n, fastest: 4n },
      },
    })
  })

  test.each([
    { name: 'of 2^64 - 1', gasLimit: '0xffffffffffffffff' },
    { name: 'of 256 bits', gasLimit: `0x${'f'.repeat(64)}` },
  ])('has prices where a block has a gas limit $name', async ({ gasLimit }) => {
    const answer = await ask({ ...NODE, eth_getBlockByNumber: { gasLimit } })
    expect(answer).toMatchObject({ value: { gasPrice: 10n, blockGasLimit: BigInt(gasLimit) } })
  })

  test('comes with what endpoints said of prices, however old its own answer is', async () => {
    let bounds = {}
    const { client, asked } = clientOf(NODE)
    const market = createMarketWatch({
      client,
      clock: createTestClock(),
      freshForMs: 1_000,
      bounds: () => bounds,
    })
    await market()
    bounds = { maximumFee: 5n }
    expect(await market()).toMatchObject({ value: { gasPrice: 10n, maximumFee: 5n } })
    expect(asked).toHaveLength(4)
  })

  const withRewards = (reward: unknown) => ({ ...NODE, eth_feeHistory: { baseFeePerGas: ['0x7'], reward } })
  test.each([
    {
      name: 'the mean of the blocks',
      results: withRewards([
        ['0x1', '0x1', '0x1', '0x1'],
        ['0x3', '0x5', '0x7', '0x9'],
      ]),
      want: [2n, 3n, 4n, 5n],
    },
    {
      name: 'empty blocks say nothing',
      results: withRewards([
        ['0x0', '0x0', '0x0', '0x0'],
        ['0x3', '0x5', '0x7', '0x9'],
      ]),
      want: [3n, 5n, 7n, 9n],
    },
    // Means over different blocks: 100 for the slow level, 50 for the fast one.
    {
      name: 'faster never bids less',
      results: withRewards([
        ['0x64', '0x64', '0x64', '0x64'],
        ['0x0', '0x0', '0x1', '0x1'],
      ]),
      want: [100n, 100n, 100n, 100n],
    },
    { name: 'no history: the suggestion, by speed', results: withRewards([]), want: [8n, 10n, 12n, 16n] },
    { name: 'no rewards at all', results: withRewards(null), want: [8n, 10n, 12n, 16n] },
    {
      name: 'garbage in the rewards',
      results: withRewards(['x', [null, 7, '0x', '0xzz']]),
      want: [8n, 10n, 12n, 16n],
    },
  ])('tips: $name', async ({ results, want }) => {
    const answer = await ask(results)
    if (answer.kind !== 'ok') throw new Error('no market')
    const { safeLow, average, fast, fastest } = answer.value.tips
    expect([safeLow, average, fast, fastest]).toEqual(want)
  })

  test.each([
    { name: 'null (no such method)', history: null },
    { name: 'no base fee (before London)', history: { reward: [] } },
    { name: 'an empty list', history: { baseFeePerGas: [] } },
  ])('has no base fee when the history is $name', async ({ history }) => {
    const answer = await ask({ ...NODE, eth_feeHistory: history })
    expect(answer).toMatchObject({ kind: 'ok', value: { gasPrice: 10n } })
    expect(answer).not.toHaveProperty('value.baseFee')
  })

  test.each(['eth_gasPrice', 'eth_getBlockByNumber'])('is unknown without %s', async (method) => {
    expect((await ask({ ...NODE, [method]: undefined })).kind).toBe('unknown')
    expect((await ask({ ...NODE, [method]: 'garbage' })).kind).toBe('unknown')
  })
})

describe('how often the node is asked', () => {
  test('once for a crowd, and again only when the price is old', async () => {
    const clock = createTestClock()
    const { client, asked } = clientOf(NODE)
    const market = createMarketWatch({ client, clock, freshForMs: 1_000 })
    await Promise.all(Array.from({ length: 50 }, market))
    expect(asked).toHaveLength(4)
    clock.advance(749)
    await market()
    expect(asked).toHaveLength(4)
    clock.advance(251)
    await market()
    expect(asked).toHaveLength(8)
  })

  test('at once again after no answer: a silence is not kept', async () => {
    const results: Record<string, unknown> = {}
    const { client } = clientOf(results)
    const market = createMarketWatch({ client, clock: createTestClock(), freshForMs: 1_000 })
    expect((await market()).kind).toBe('unknown')
    Object.assign(results, NODE)
    expect((await market()).kind).toBe('ok')
  })
})
