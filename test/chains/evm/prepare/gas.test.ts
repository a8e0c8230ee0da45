import { afterEach, describe, expect, test } from 'vitest'
import { createEvmChain } from '../../../../src/chains/evm/evm-chain.ts'
import {
  type GasEstimate,
  isDoubtfulLimit,
  leastIntrinsicGas,
  limitFor,
} from '../../../../src/chains/evm/prepare/gas.ts'
import { createGasLimits, readGasLimits } from '../../../../src/chains/evm/prepare/node-limits.ts'
import { type PrepareContext, prepareDraft } from '../../../../src/chains/evm/prepare/prepare.ts'
import { createLineaQuote } from '../../../../src/chains/evm/prepare/rollups.ts'
import type { PooledClient, RpcReply } from '../../../../src/chains/rpc/rpc.ts'
import { createSimulationRefusals, SETTLE_MS } from '../../../../src/chains/simulations.ts'
import { createLogger } from '../../../../src/log.ts'
import { createAdjustableClock, createHurriedClock } from '../../../support/clock.ts'
import { type RpcServer, startRpcServer, type WireCall } from '../../../support/rpc-server.ts'
import { SILENT_NETWORK } from '../../../transactions/stub-chain.ts'
import { accountWith, FROM, requestOf, TO } from '../build.ts'

const bytes = (zeros: number, others: number) => `0x${'00'.repeat(zeros)}${'ff'.repeat(others)}`

describe('the gas before the first instruction', () => {
  const AUTHORIZATION = { chainId: 0, address: TO, nonce: 0n, yParity: 0, r: '0x1', s: '0x1' } as const
  const LISTS = {
    to: TO,
    accessList: [
      { address: TO, storageKeys: ['0x00', '0x01'] },
      { address: TO, storageKeys: [] },
    ],
    authorizationList: [AUTHORIZATION],
  }

  // `least`: EIP-2780, EIP-2028, EIP-2930 · `most`: EIP-2, EIP-7976 (64 a byte of calldata), EIP-7981 (64 a byte of lists), EIP-7702.
  test.each([
    { name: 'a transfer', request: { to: TO }, least: 12_000n, most: 21_000n },
    { name: 'empty data', request: { to: TO, data: '0x' }, least: 12_000n, most: 21_000n },
    { name: 'one zero byte', request: { to: TO, data: bytes(1, 0) }, least: 12_004n, most: 21_064n },
    { name: 'one other byte', request: { to: TO, data: bytes(0, 1) }, least: 12_016n, most: 21_064n },
    {
      name: 'lists',
      request: LISTS,
      least: 12_000n + 2n * 2_400n + 2n * 1_900n,
      most: 21_000n + 2n * (2_400n + 1_780n) + 2n * (1_900n + 2_148n) + 25_000n,
    },
    {
      name: 'a creation of 33 bytes',
      request: { data: bytes(0, 33) },
      least: 21_000n + 4n + 33n * 16n,
      most: 53_000n + 4n + 33n * 16n,
    },
    {
      name: 'a large creation',
      request: { data: bytes(0, 2_000) },
      least: 21_000n + 126n + 32_000n,
      most: 21_000n + 128_000n,
    },
  ])(
    'of $name: below $least no one takes it, from $most on everyone, and in between the node decides',
    ({ request, least, most }) => {
      expect(leastIntrinsicGas(request)).toBe(least)
      expect([most - 1n, most].map((limit) => isDoubtfulLimit(request, limit, undefined))).toEqual([
        true,
        false,
      ])
    },
  )

  test.each([
    { name: 'as much as the configuration knows', gasLimit: 30_000n, want: false },
    { name: 'more than the configuration knows', gasLimit: 30_001n, want: true },
  ])('$name is doubtful: $want', ({ gasLimit, want }) => {
    expect(isDoubtfulLimit({ to: TO }, gasLimit, 30_000n)).toBe(want)
  })

  test.each([
    { name: 'as long as Prague allows', length: 49_152, want: false },
    { name: 'longer', length: 49_153, want: true },
  ])('init code $name is doubtful: $want', ({ length, want }) => {
    expect(isDoubtfulLimit({ data: bytes(length, 0) }, 20_000_000n, undefined)).toBe(want)
  })
})

describe('the gas limit for an estimate of 1000', () => {
  test.each([
    { name: 'has a margin of 10 %', most: 1_100n, want: 1_100n },
    { name: 'has the part of the margin that fits', most: 1_050n, want: 1_050n },
    { name: 'has no margin at the limit', most: 1_000n, want: 1_000n },
    { name: 'is the estimate above the limit, which may be wrong', most: 999n, want: 1_000n },
    { name: 'is what nodes demanded', least: 1_300n, most: 2_000n, want: 1_300n },
  ])('$name', ({ least = 0n, most, want }) => {
    expect(limitFor({ higher: 1_000n as GasEstimate, lower: 1_000n as GasEstimate }, { least, most })).toBe(
      want,
    )
  })
})

const CONTENT = { to: TO, value: 1n, data: '0xAB' as const }
const CAP = 'transaction gas limit too high (cap: 16777216, tx: 17512000)'

describe('the limits of gas that a message names', () => {
  test.each([
    { message: CAP, want: { most: 16_777_216n } },
    {
      message: 'transaction gas limit (40000000) is greater than the cap (30000000)',
      want: { most: 30_000_000n },
    },
    { message: 'Transaction gas limit must be at most 16777216', want: { most: 16_777_216n } },
    {
      message: 'TxGasLimitCapExceeded: Gas limit 20000000 exceeded cap of 16777216.',
      want: { most: 16_777_216n },
    },
    {
      message: 'Gas limit of transaction is greater than the allowed max of 24000000',
      want: { most: 24_000_000n },
    },
    {
      message: 'GasLimitExceeded, Gas limit: 30000000, gas limit of rejected tx: 31000000',
      want: { most: 30_000_000n },
    },
    {
      message:
        'insufficient gas limit for tx size: tx size 40104 bytes must specify gas limit at least 407950 when the block gas limit is 16000000',
      want: { least: 407_950n },
    },
    { message: 'intrinsic gas too low: gas 20000, minimum needed 21000', want: { least: 21_000n } },
    { message: 'intrinsic gas cost 21064 exceeds gas limit 21000', want: { least: 21_064n } },
    { message: 'gas floor (31000) exceeds the gas limit (21000)', want: { least: 31_000n } },
    { message: 'exceeds block gas limit', want: {} },
    { message: 'Calldata of transaction is greater than the allowed max of 30000', want: {} },
  ])('"$message"', ({ message, want }) => {
    expect(readGasLimits(message)).toEqual(want)
  })
})

describe('the memory of limits of gas', () => {
  test('forgets what a node named after ten minutes, so that it is asked again', () => {
    const clock = createHurriedClock()
    const limits = createGasLimits(clock)
    limits.sawRefusal({ ...CONTENT, gas: 17_512_000n }, CAP)
    limits.sawRefusal({ ...CONTENT, gas: 30_000n }, 'gas 30000, minimum needed 40000')
    clock.advance(599_999)
    expect([limits.most(), limits.leastFor(CONTENT)]).toEqual([16_777_216n, 40_000n])
    clock.advance(1)
    expect([limits.most(), limits.leastFor(CONTENT)]).toEqual([undefined, 0n])
  })

  test('knows a minimum for this content alone, in any spelling', () => {
    const limits = createGasLimits(createHurriedClock())
    limits.sawRefusal({ ...CONTENT, gas: 30_000n }, 'gas 30000, minimum needed 40000')
    expect(limits.leastFor({ to: TO.toLowerCase(), value: 1n, data: '0xab' })).toBe(40_000n)
    expect(limits.leastFor({ ...CONTENT, value: 2n })).toBe(0n)
    expect(limits.leastFor({ ...CONTENT, data: '0xac' })).toBe(0n)
  })

  test('does not believe a minimum far above what was refused', () => {
    const limits = createGasLimits(createHurriedClock())
    limits.sawRefusal({ ...CONTENT, gas: 30_000n }, 'gas 30000, minimum needed 480001')
    expect(limits.leastFor(CONTENT)).toBe(0n)
  })

  test('does not grow for ever', () => {
    const limits = createGasLimits(createHurriedClock())
    for (let value = 0n; value <= 1_000n; value += 1n)
      limits.sawRefusal({ ...CONTENT, value, gas: 30_000n }, 'gas 30000, minimum needed 40000')
    expect([0n, 1_000n].map((value) => limits.leastFor({ ...CONTENT, value }))).toEqual([0n, 40_000n])
  })
})

describe('the gas limit of a draft', () => {
  const prepare = async (estimate: bigint, message: string, gasLimit?: bigint) => {
    const gasLimits = createGasLimits(createHurriedClock())
    gasLimits.sawRefusal({ ...requestOf(), data: '0x', gas: 100_000n }, message)
    const context: PrepareContext = {
      client: {
        send: async () => [],
        call: async () => ({ kind: 'result', result: `0x${estimate.toString(16)}` }),
        sendEverywhere: async () => [],
        states: () => [],
      },
      now: () => 0,
      blocktimeMs: 12_000,
      simulations: createSimulationRefusals(1n, createHurriedClock()),
      txFeeCap: 10n ** 18n,
      gasLimits,
      market: async () => ({
        kind: 'ok',
        value: {
          gasPrice: 1n,
          blockGasLimit: 30_000_000n,
          tips: { safeLow: 1n, average: 1n, fast: 1n, fastest: 1n },
        },
      }),
      eip1559: false,
    }
    const request = requestOf(gasLimit === undefined ? {} : { gasLimit })
    const answer = await prepareDraft(context, { request, account: accountWith() })
    return answer.kind === 'ok' ? answer.value.draft.gasLimit : answer
  }

  test('has no margin above a named maximum, and keeps the estimate: a wrong node ends nothing', async () => {
    expect(await prepare(16_000_000n, CAP)).toBe(16_777_216n)
    expect(await prepare(20_000_000n, CAP)).toBe(20_000_000n)
  })

  test('is at least a named minimum', async () => {
    expect(await prepare(50_000n, 'must specify gas limit at least 407950 when')).toBe(407_950n)
    expect(await prepare(500_000n, 'must specify gas limit at least 407950 when')).toBe(550_000n)
  })

  test('of the caller is never changed', async () => {
    expect(await prepare(50_000n, 'must specify gas limit at least 407950 when', 60_000n)).toBe(60_000n)
    expect(await prepare(50_000n, CAP, 20_000_000n)).toBe(20_000_000n)
  })
})

const QUOTE = { baseFeePerGas: '0x7', gasLimit: '0x5208', priorityFeePerGas: '0x64' }

function quoteOf(reply: RpcReply, chainId = 59_144) {
  const asked: unknown[] = []
  const client: Pick<PooledClient, 'sendEverywhere'> = {
    sendEverywhere: async (calls) => [
      calls.map(({ method, params }) => {
        asked.push([method, params])
        return { reply, behind: false }
      }),
    ],
  }
  return { quote: createLineaQuote(client, { chainId, averageBlocktimeMs: 2_000 }), asked }
}

describe('the price of a call on Linea', () => {
  test.each([59_144, 59_141])('comes from the node on chain %i, for exactly this call', async (chainId) => {
    const { quote, asked } = quoteOf({ kind: 'result', result: QUOTE }, chainId)
    expect(await quote?.(requestOf({ data: '0xff', gasLimit: 9n }), FROM)).toEqual({
      tip: 100n,
      ceiling: 107n,
      stated: true,
    })
    expect(asked).toEqual([['linea_estimateGas', [{ from: FROM, to: TO, value: '0x1', data: '0xff' }]]])
  })

  test.each<[string, RpcReply]>([
    ['has no such method', { kind: 'error', code: -32601, message: 'Method not found' }],
    ['does not answer', { kind: 'unknown', detail: 'time-out' }],
    ['answers nothing', { kind: 'result', result: null }],
    ['answers garbage', { kind: 'result', result: { priorityFeePerGas: 7 } }],
  ])('is left to the market where the node %s', async (_name, reply) => {
    const { quote } = quoteOf(reply)
    expect(await quote?.(requestOf(), FROM)).toBeUndefined()
  })

  test('is asked for on no other network', () => {
    expect(quoteOf({ kind: 'result', result: QUOTE }, 1).quote).toBeUndefined()
  })
})

describe('a second estimate', () => {
  const log = createLogger({ level: 'silent' })
  const running: RpcServer[] = []

  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.stop()))
  })

  /** A node at a height that returns the same answer to every estimate of a call with data. */
  interface Node {
    height: number
    estimate: string | Error | 'cut'
  }

  const REVERTS = new Error('execution reverted: no')
  const CUT: Node = { height: 0, estimate: 'cut' }

  function replyTo(node: Node, { id, method, params }: WireCall) {
    if (method === 'eth_blockNumber') return { id, result: `0x${node.height.toString(16)}` }
    if (method === 'eth_gasPrice') return { id, result: '0x5' }
    if (method === 'eth_getBlockByNumber') return { id, result: { gasLimit: '0x1c9c380' } }
    if (method !== 'eth_estimateGas') return { id, error: { code: -32601, message: 'method not found' } }
    const [{ data }] = params as [{ data: string }]
    const result = data === '0x' ? '0x5208' : node.estimate
    return result instanceof Error
      ? { id, error: { code: -32000, message: result.message } }
      : { id, result: result }
  }

  /** The chain of these nodes; the first is asked first. */
  async function chainOf(...nodes: readonly Node[]) {
    const start = (node: Node) =>
      startRpcServer((calls) => {
        if (node.estimate === 'cut') return 'cut'
        const replies = calls.map((call) => replyTo(node, call))
        return { body: replies.length === 1 ? replies[0] : replies }
      })
    const servers = await Promise.all(nodes.map(start))
    running.push(...servers)
    const rpcUrls = servers.map(({ url }, index) => ({ url, weight: index === 0 ? 100 : 1e-9 }))
    const clock = createAdjustableClock()
    const chain = createEvmChain({ network: { ...SILENT_NETWORK, rpcUrls }, rpcTimeoutMs: 5_000, clock, log })
    const estimates = servers.map(
      ({ requests }) =>
        () =>
          requests.flat().filter(({ method }) => method === 'eth_estimateGas').length,
    )
    return { prepare: () => chain.prepare(requestOf({ data: '0xff' }), accountWith()), estimates, clock }
  }

  const FINAL = { kind: 'refused', refusal: { code: 'execution_reverted', detail: expect.any(String) } }
  const DOUBTED = { kind: 'refused', refusal: { ...FINAL.refusal, unanswered: true } }
  const GOOD = { kind: 'ok', value: { draft: { gasLimit: 23_100n } } }

  describe('an estimate that reverts on one of several endpoints', () => {
    test('does not count when another endpoint that is not behind estimates it', async () => {
      const { prepare } = await chainOf(
        { height: 95, estimate: REVERTS },
        { height: 100, estimate: '0x5208' },
      )
      expect(await prepare()).toMatchObject(GOOD)
    })

    test.each([
      { name: 'reverts as well', other: { height: 100, estimate: REVERTS } },
      { name: 'says so in words that no one knows', other: { height: 100, estimate: new Error('no stars') } },
    ])('is final when the other $name', async ({ other }) => {
      const { prepare } = await chainOf({ height: 100, estimate: REVERTS }, other)
      expect(await prepare()).toEqual(FINAL)
    })

    test('is final 32 blocks later while the other is silent, and not before', async () => {
      const node: Node = { height: 100, estimate: REVERTS }
      const { prepare, clock } = await chainOf(node, CUT)
      expect(await prepare()).toEqual(DOUBTED)
      clock.advance(SETTLE_MS)
      node.height = 131
      expect(await prepare()).toEqual(DOUBTED)
      node.height = 132
      expect(await prepare()).toEqual(FINAL)
    })

    test('passes when the endpoint has come as far as the caller', async () => {
      const node: Node = { height: 100, estimate: REVERTS }
      const { prepare } = await chainOf(node, CUT)
      expect(await prepare()).toEqual(DOUBTED)
      Object.assign(node, { height: 101, estimate: '0x5208' })
      expect(await prepare()).toMatchObject(GOOD)
    })

    test('is final ten blocks later where it is the only endpoint, which may lag', async () => {
      const node: Node = { height: 100, estimate: REVERTS }
      const { prepare, clock } = await chainOf(node)
      expect(await prepare()).toEqual(DOUBTED)
      clock.advance(SETTLE_MS)
      node.height = 109
      expect(await prepare()).toEqual(DOUBTED)
      node.height = 110
      expect(await prepare()).toEqual(FINAL)
    })

    test('is not final after ten blocks of a second, which a replica behind one url may lag', async () => {
      const node: Node = { height: 100, estimate: REVERTS }
      const { prepare, clock } = await chainOf(node)
      expect(await prepare()).toEqual(DOUBTED)
      clock.advance(1_000)
      node.height = 110
      expect(await prepare()).toEqual(DOUBTED)
      clock.advance(SETTLE_MS)
      expect(await prepare()).toEqual(FINAL)
    })

    test.each([
      {
        name: 'a lack of funds',
        of: [new Error('insufficient funds for transfer'), '0x5208'],
        want: 23_100n,
      },
      { name: 'a tenth of the other', of: ['0x834', '0x5208'], want: 23_100n },
      { name: 'a tenth of two others', of: ['0x834', '0x5208', '0x5208'], want: 23_100n },
      { name: 'ten times two others', of: ['0x33450', '0x5208', '0x5208'], want: 23_100n },
    ])('does not count when it is $name', async ({ of, want }) => {
      const { prepare } = await chainOf(...of.map((estimate) => ({ height: 100, estimate })))
      expect(await prepare()).toMatchObject({ kind: 'ok', value: { draft: { gasLimit: want } } })
    })
  })
})
