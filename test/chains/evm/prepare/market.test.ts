import { describe, expect, test } from 'vitest'
import { createMarketWatch } from '../../../../src/chains/evm/prepare/market.ts'
import type { PooledClient, RpcCall, RpcReply } from '../../../../src/chains/rpc/rpc.ts'
import { createTestClock } from '../../../support/clock.ts'

type Results = Readonly<Record<string, unknown>>
type MarketClient = Pick<PooledClient, 'send' | 'sendEverywhere' | 'states'>

const NODE: Results = {
  eth_feeHistory: { baseFeePerGas: ['0x5', '0x6', '0x7'], reward: [['0x2', '0x3', '0x4', '0x5']] },
  eth_gasPrice: '0xa',
  eth_maxPriorityFeePerGas: '0x8',
  eth_getBlockByNumber: { gasLimit: '0x1c9c380' },
}

const withRewards = (reward: unknown): Results => ({
  ...NODE,
  eth_feeHistory: { baseFeePerGas: ['0x7'], reward },
})

function clientOf(results: Results) {
  const asked: RpcCall[] = []
  const reply = (call: RpcCall): RpcReply => {
    asked.push(call)
    const result = results[call.method]
    return result === undefined ? { kind: 'unknown', detail: 'time-out' } : { kind: 'result', result }
  }
  const client: MarketClient = {
    send: async (calls) => calls.map(reply),
    sendEverywhere: async () => [],
    states: () => [],
  }
  return { client, asked }
}

const ask = (results: Results) =>
  createMarketWatch({
    client: clientOf(results).client,
    clock: createTestClock(),
    blocktimeMs: 12_000,
    freshForMs: 1_000,
  })()

describe('the market', () => {
  test('has the next block base fee, and the tips by percentile', async () => {
    expect(await ask(NODE)).toEqual({
      kind: 'ok',
      value: {
        gasPrice: 10n,
        baseFee: 7n,
        blockGasLimit: 30_000_000n,
        tips: { safeLow: 2n, average: 3n, fast: 4n, fastest: 5n },
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
      blocktimeMs: 12_000,
      freshForMs: 1_000,
      bounds: () => bounds,
    })
    await market()
    bounds = { maximumFee: 5n }
    expect(await market()).toMatchObject({ value: { gasPrice: 10n, maximumFee: 5n } })
    expect(asked).toHaveLength(4)
  })

  test.each([
    {
      name: 'the middle one of the blocks',
      results: withRewards([
        ['0x3', '0x5', '0x7', '0x9'],
        ['0xff', '0xff', '0xff', '0xff'],
        ['0x2', '0x2', '0x2', '0x2'],
      ]),
      want: [3n, 5n, 7n, 9n],
    },
    {
      name: 'empty blocks count as what the node suggests',
      results: withRewards([
        ['0x0', '0x0', '0x0', '0x0'],
        ['0x3', '0x5', '0x7', '0x9'],
        ['0x4', '0x6', '0x8', '0xa'],
      ]),
      want: [4n, 6n, 8n, 10n],
    },
    {
      name: 'a block that was paid one wei says as little as an empty one',
      results: withRewards([
        ['0x0', '0x0', '0x0', '0x0'],
        ['0x1', '0x1', '0x1', '0x1'],
        ['0x0', '0x0', '0x0', '0x0'],
      ]),
      want: [8n, 10n, 12n, 16n],
    },
    {
      name: 'a block that was paid a few wei does not count against three empty ones',
      results: withRewards([
        ['0x0', '0x0', '0x0', '0x0'],
        ['0x3', '0x3', '0x3', '0x3'],
        ['0x0', '0x0', '0x0', '0x0'],
        ['0x0', '0x0', '0x0', '0x0'],
      ]),
      want: [8n, 10n, 12n, 16n],
    },
    // The fast levels were paid less in the second block than the node suggests for the slow ones.
    {
      name: 'faster never bids less',
      results: withRewards([
        ['0x64', '0x64', '0x64', '0x64'],
        ['0x0', '0x0', '0x2', '0x2'],
      ]),
      want: [8n, 10n, 10n, 10n],
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

  test.each([undefined, 'garbage'])('is unknown without the gas of a block (%s)', async (answer) => {
    expect((await ask({ ...NODE, eth_getBlockByNumber: answer })).kind).toBe('unknown')
  })

  test('takes a price of more than 128 bits for none, whichever source says it', async () => {
    const absurd = `0x${'f'.repeat(64)}`
    const history = { baseFeePerGas: [absurd], reward: [[absurd, absurd, absurd, absurd]] }
    expect(await ask({ ...NODE, eth_feeHistory: history, eth_maxPriorityFeePerGas: absurd })).toMatchObject({
      value: { gasPrice: 10n, tips: { safeLow: 10n } },
    })
    expect(await ask({ ...NODE, eth_gasPrice: absurd })).toMatchObject({
      value: { gasPrice: 9n, baseFee: 7n },
    })
    expect((await ask({ ...NODE, eth_gasPrice: absurd, eth_feeHistory: history })).kind).toBe('unknown')
  })

  test.each([undefined, 'garbage'])(
    'takes the gas price from the history where the node does not suggest one (%s)',
    async (answer) => {
      expect(await ask({ ...NODE, eth_gasPrice: answer })).toMatchObject({
        kind: 'ok',
        value: { gasPrice: 9n, baseFee: 7n },
      })
    },
  )

  test.each<[string, Results]>([
    ['no source names a price', { eth_getBlockByNumber: { gasLimit: '0x1' } }],
    [
      'there is a base fee and nothing about tips',
      { eth_feeHistory: { baseFeePerGas: ['0x7'] }, eth_getBlockByNumber: { gasLimit: '0x1' } },
    ],
  ])('is unknown where %s', async (_name, results) => {
    expect((await ask(results)).kind).toBe('unknown')
  })

  test.each([
    {
      name: 'the suggested gas price, where a chain without a base fee knows no tips',
      results: { ...withRewards([]), eth_feeHistory: { baseFeePerGas: ['0x0'], reward: [['0x0']] } },
      gasPrice: '0x64',
      tip: undefined,
      want: [100n, 125n, 150n, 200n],
    },
    {
      name: 'its part above the base fee, where that is more than the suggested tip',
      results: withRewards([]),
      gasPrice: '0x64',
      tip: '0x1',
      want: [93n, 116n, 139n, 186n],
    },
    {
      name: 'nothing, where the suggested gas price is the base fee',
      results: withRewards([]),
      gasPrice: '0x7',
      tip: '0x0',
      want: [0n, 0n, 0n, 0n],
    },
  ])('tips are $name', async ({ results, gasPrice, tip, want }) => {
    const answer = await ask({ ...results, eth_gasPrice: gasPrice, eth_maxPriorityFeePerGas: tip })
    if (answer.kind !== 'ok') throw new Error('no market')
    const { safeLow, average, fast, fastest } = answer.value.tips
    expect([safeLow, average, fast, fastest]).toEqual(want)
  })

  test('one transaction that pays far more than all others sets no price', async () => {
    const answer = await ask(withRewards([['0x2', '0x3', '0x4', '0xffffffff']]))
    // Ten times the suggestion: the base fee of 7 and a tip of 8.
    expect(answer).toMatchObject({ value: { tips: { fast: 4n, fastest: 150n } } })
  })

  test('has the newest block, as far as the node tells it', async () => {
    const header = {
      number: '0x10',
      gasLimit: '0x64',
      gasUsed: '0x32',
      baseFeePerGas: '0x5',
      timestamp: '0x6b3c4d80',
    }
    expect(await ask({ ...NODE, eth_getBlockByNumber: header })).toMatchObject({
      value: {
        block: { number: 16n, gasLimit: 100n, gasUsed: 50n, baseFee: 5n, time: new Date(0x6b3c4d80 * 1_000) },
      },
    })
    const bare = await ask({ ...NODE, eth_getBlockByNumber: { number: '0x10', gasLimit: '0x64' } })
    expect(bare).toHaveProperty('value.block', { number: 16n, gasLimit: 100n })
  })
})

describe('a network with several endpoints', () => {
  const atPrice = (price: number): Results => {
    const hex = `0x${price.toString(16)}`
    return {
      ...NODE,
      eth_gasPrice: hex,
      eth_feeHistory: { baseFeePerGas: [hex], reward: [['0x1', '0x1', '0x1', '0x1']] },
    }
  }
  const SILENT: Results = {}

  /** Each endpoint answers, or is silent; `height` is what it reports beside. */
  function setUp(...endpoints: Results[]) {
    const clock = createTestClock()
    const replyOf = (results: Results, { method }: RpcCall): RpcReply =>
      results[method] === undefined
        ? { kind: 'unknown', detail: 'time-out' }
        : { kind: 'result', result: results[method] }
    const client: MarketClient = {
      send: async (calls) => calls.map((call) => replyOf(endpoints[0] ?? {}, call)),
      sendEverywhere: async (calls) =>
        endpoints.map((results) =>
          calls.map((call) => ({
            reply: replyOf(results, call),
            behind: false,
            ...(typeof results.height === 'bigint' && { head: results.height }),
          })),
        ),
      states: () => endpoints.map((_, index) => ({ url: `http://${index}`, healthy: true })),
    }
    const market = createMarketWatch({ client, clock, blocktimeMs: 12_000, freshForMs: 1_000 })
    const baseFee = async () => {
      clock.advance(1_000)
      const answer = await market()
      return answer.kind === 'ok' ? answer.value.baseFee : answer.kind
    }
    const change = (index: number, results: Results) => {
      endpoints[index] = results
    }
    return { baseFee, change }
  }

  test('is the cheaper one of two that contradict each other', async () => {
    const { baseFee, change } = setUp(atPrice(1_000_000), atPrice(10))
    expect(await baseFee()).toBe(10n)
    change(0, atPrice(11))
    expect(await baseFee()).toBe(10n)
    change(1, atPrice(1_000_000))
    expect(await baseFee()).toBe(11n)
  })

  test('is the middle one of three, whatever one of them says', async () => {
    const { baseFee, change } = setUp(atPrice(10), atPrice(10), atPrice(10))
    expect(await baseFee()).toBe(10n)
    change(0, atPrice(50))
    change(1, atPrice(1_000_000))
    change(2, atPrice(110))
    expect(await baseFee()).toBe(110n)
  })

  test('does not count an endpoint that stands still', async () => {
    const { baseFee } = setUp({ ...atPrice(1), height: 7n }, { ...atPrice(10), height: 150n })
    expect(await baseFee()).toBe(10n)
  })

  test('counts the others when one of three names a block of the far future', async () => {
    const { baseFee } = setUp(
      { ...atPrice(10), height: 150n },
      { ...atPrice(900), height: 10n ** 12n },
      { ...atPrice(11), height: 151n },
    )
    expect(await baseFee()).toBe(11n)
  })

  test('goes on with the only endpoint that answers, and compares as soon as another one does', async () => {
    const { baseFee, change } = setUp(atPrice(100), SILENT)
    expect(await baseFee()).toBe(100n)
    change(0, atPrice(900))
    expect(await baseFee()).toBe(900n)
    change(1, atPrice(10))
    expect(await baseFee()).toBe(10n)
    change(0, SILENT)
    change(1, SILENT)
    expect(await baseFee()).toBe('unknown')
  })
})

describe('a question about prices', () => {
  test('goes to the node once for a crowd, and again only when the price is old', async () => {
    const clock = createTestClock()
    const { client, asked } = clientOf(NODE)
    const market = createMarketWatch({ client, clock, blocktimeMs: 12_000, freshForMs: 1_000 })
    await Promise.all(Array.from({ length: 50 }, market))
    expect(asked).toHaveLength(4)
    clock.advance(749)
    await market()
    expect(asked).toHaveLength(4)
    clock.advance(251)
    await market()
    expect(asked).toHaveLength(8)
  })

  test('goes to the node again immediately after no answer, because a silence is not kept', async () => {
    const results: Record<string, unknown> = {}
    const { client } = clientOf(results)
    const market = createMarketWatch({
      client,
      clock: createTestClock(),
      blocktimeMs: 12_000,
      freshForMs: 1_000,
    })
    expect((await market()).kind).toBe('unknown')
    Object.assign(results, NODE)
    expect((await market()).kind).toBe('ok')
  })
})
