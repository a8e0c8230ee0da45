import { describe, expect, test } from 'vitest'
import type { EvmPolicies, EvmRequest, Fees } from '../../../../src/chains/evm/content.ts'
import type { Market } from '../../../../src/chains/evm/prepare/fees.ts'
import { createGasLimits } from '../../../../src/chains/evm/prepare/node-limits.ts'
import {
  type PrepareContext,
  prepareDraft,
  prepareReplacement,
  prepareSpeedUp,
} from '../../../../src/chains/evm/prepare/prepare.ts'
import type { EvmAttempt } from '../../../../src/chains/evm/types.ts'
import type { RpcReply } from '../../../../src/chains/rpc/rpc.ts'
import { createSimulationRefusals } from '../../../../src/chains/simulations.ts'
import { createTestClock } from '../../../support/clock.ts'
import {
  accountWith,
  attemptOf,
  creationOf,
  draftOf,
  eip1559,
  FROM,
  legacy,
  requestOf,
  TO,
} from '../build.ts'

const MARKET: Market = {
  gasPrice: 100n,
  baseFee: 50n,
  blockGasLimit: 30_000_000n,
  tips: { safeLow: 10n, average: 10n, fast: 10n, fastest: 10n },
}

const ESTIMATE: RpcReply = { kind: 'result', result: '0x5208' }

/** The answer to a call with a limit of gas that is too low. */
const TOO_LITTLE: RpcReply = {
  kind: 'error',
  code: -32000,
  message: 'gas required exceeds allowance (20999)',
}

/** `asked` are the calls that reached a node; `limited` answers those with a limit of gas. */
function contextOf({
  market = MARKET,
  reply = ESTIMATE,
  limited = TOO_LITTLE,
  eip1559: network = true,
}: {
  market?: Market
  reply?: RpcReply
  limited?: RpcReply
  eip1559?: boolean
} = {}) {
  const asked: unknown[] = []
  const call = async (method: string, params: unknown) => {
    asked.push([method, params])
    return (params as readonly { gas?: string }[])[0]?.gas === undefined ? reply : limited
  }
  const client: PrepareContext['client'] = {
    send: async () => [],
    call,
    sendEverywhere: async (calls) => [
      await Promise.all(
        calls.map(async ({ method, params }) => ({ reply: await call(method, params), behind: false })),
      ),
    ],
    states: () => [],
  }
  const context: PrepareContext = {
    client,
    now: () => 0,
    blocktimeMs: 12_000,
    simulations: createSimulationRefusals(1n, createTestClock()),
    txFeeCap: 10n ** 18n,
    gasLimits: createGasLimits(createTestClock()),
    market: async () => ({ kind: 'ok', value: market }),
    eip1559: network,
  }
  return { context, asked }
}

describe('prepareDraft', () => {
  test.each([
    { name: 'the market', change: { speed: 'safeLow' }, fees: eip1559(110n, 10n), logs: 0 },
    {
      name: 'legacy by policy',
      change: { speed: 'safeLow' },
      policies: { eip1559Pricing: false },
      fees: legacy(100n),
      logs: 0,
    },
    { name: 'its own price, below the base fee', change: { gasPrice: 7n }, fees: legacy(7n), logs: 1 },
    {
      name: 'its own fees',
      change: { maxFeePerGas: 9n, maxPriorityFeePerGas: 2n },
      fees: eip1559(9n, 2n),
      logs: 1,
    },
    {
      name: 'the market above the cap',
      change: { speed: 'safeLow' },
      policies: { gasPriceCap: 60n },
      fees: eip1559(60n, 10n),
      logs: 1,
    },
  ] satisfies {
    name: string
    change: Partial<EvmRequest>
    policies?: EvmPolicies
    fees: unknown
    logs: number
  }[])('$name', async ({ change, policies = {}, fees, logs }) => {
    const { context } = contextOf()
    const answer = await prepareDraft(context, { request: requestOf(change), account: accountWith(policies) })
    expect(answer).toMatchObject({
      kind: 'ok',
      value: { draft: { to: TO, value: 1n, data: '0x', gasLimit: 23_100n, fees } },
    })
    expect(answer.kind === 'ok' && answer.value.logs).toHaveLength(logs)
  })

  test('asks for an estimate with what will be sent, once', async () => {
    const { context, asked } = contextOf()
    await prepareDraft(context, { request: requestOf({ data: '0xff', value: 255n }), account: accountWith() })
    expect(asked).toEqual([['eth_estimateGas', [{ from: FROM, to: TO, value: '0xff', data: '0xff' }]]])
  })

  test.each([
    { name: 'a limit of the request', change: { gasLimit: 50_000n }, known: undefined, want: 50_000n },
    { name: 'an earlier estimate', change: {}, known: 40_000n, want: 44_000n },
    {
      name: 'the limit of the request before the earlier estimate',
      change: { gasLimit: 50_000n },
      known: 40_000n,
      want: 50_000n,
    },
  ])('$name spares the simulation', async ({ change, known, want }) => {
    const { context, asked } = contextOf()
    const answer = await prepareDraft(context, {
      request: requestOf(change),
      account: accountWith(),
      knownGas: known,
    })
    expect(answer).toMatchObject({ kind: 'ok', value: { draft: { gasLimit: want } } })
    expect(asked).toEqual([])
  })

  test.each([
    { name: 'exactly a block', gasLimit: 30_000_000n, kind: 'ok' },
    { name: 'more than a block', gasLimit: 30_000_001n, kind: 'refused' },
  ])('gas of $name is $kind', async ({ gasLimit, kind }) => {
    const { context } = contextOf()
    const answer = await prepareDraft(context, { request: requestOf({ gasLimit }), account: accountWith() })
    expect(answer.kind).toBe(kind)
    if (answer.kind === 'refused') expect(answer.refusal.code).toBe('gas_limit_too_high')
  })

  test.each([
    {
      name: 'an estimate whose margin passes a block',
      change: {},
      limits: { blockGasLimit: 22_000n },
      want: 22_000n,
    },
    {
      name: 'an estimate whose margin passes the most of a transaction',
      change: {},
      limits: { maxGas: 21_500n },
      want: 21_500n,
    },
    {
      name: 'an estimate above the most of a transaction, which proves that it is gone',
      change: {},
      limits: { maxGas: 20_999n },
      want: 21_000n,
    },
    {
      name: 'an estimate above the gas of a block',
      change: {},
      limits: { blockGasLimit: 20_999n },
      want: 'gas_limit_too_high',
    },
    {
      name: 'a limit of the caller above the most of a transaction, of which less is enough',
      change: { gasLimit: 30_000n },
      limits: { maxGas: 29_999n },
      want: 'gas_limit_too_high',
    },
    {
      name: 'a limit of the caller above the most of a transaction, which the estimate proves to be gone',
      change: { gasLimit: 30_000n },
      limits: { maxGas: 20_999n },
      want: 30_000n,
    },
    {
      name: 'a limit of the caller below the estimate, where the fork may demand more',
      change: { gasLimit: 20_999n, data: '0xff' },
      limits: {},
      want: 'gas_limit_too_low',
    },
    {
      name: 'a limit of the caller below the estimate, which is enough when the node tries it',
      change: { gasLimit: 20_999n },
      limited: { kind: 'result', result: '0x5207' },
      limits: {},
      want: 20_999n,
    },
    {
      name: 'a limit of the caller below the gas of Prague, which the estimate allows',
      change: { gasLimit: 15_000n },
      reply: { kind: 'result', result: '0x3a98' },
      limits: {},
      want: 15_000n,
    },
    {
      name: 'init code beyond Prague that the node takes',
      change: { data: `0x${'00'.repeat(49_153)}`, gasLimit: 9_000_000n },
      creates: true,
      limits: {},
      want: 9_000_000n,
    },
  ] satisfies {
    name: string
    change: Partial<EvmRequest>
    creates?: boolean
    reply?: RpcReply
    limited?: RpcReply
    limits: Partial<Market> & { maxGas?: bigint }
    want: bigint | string
  }[])('$name: $want', async ({ change, creates, reply = ESTIMATE, limited = TOO_LITTLE, limits, want }) => {
    const { maxGas, ...market } = { maxGas: undefined, ...limits }
    const { context } = contextOf({ market: { ...MARKET, ...market }, reply, limited })
    const answer = await prepareDraft(
      { ...context, maxGas },
      { request: creates ? creationOf(change) : requestOf(change), account: accountWith() },
    )
    expect(answer).toMatchObject(
      typeof want === 'bigint'
        ? { kind: 'ok', value: { draft: { gasLimit: want } } }
        : { kind: 'refused', refusal: { code: want } },
    )
  })

  test('silence about prices or gas is unknown (I6)', async () => {
    const { context } = contextOf({ reply: { kind: 'unknown', detail: 'time-out' } })
    expect((await prepareDraft(context, { request: requestOf(), account: accountWith() })).kind).toBe(
      'unknown',
    )
    const noMarket: PrepareContext = {
      ...contextOf().context,
      market: async () => ({ kind: 'unknown', detail: 'time-out' }),
    }
    expect((await prepareDraft(noMarket, { request: requestOf(), account: accountWith() })).kind).toBe(
      'unknown',
    )
  })
})

interface Replacement {
  readonly name: string
  readonly pool: readonly EvmAttempt[]
  readonly change: Partial<EvmRequest>
  readonly policies?: EvmPolicies
  /** The fees, or the code of the refusal. */
  readonly want: unknown
  readonly names?: string
}

const inPool = (...fees: ReturnType<typeof legacy>[]) =>
  fees.map((one, index) => attemptOf(one, { number: index + 1 }))

/** The table of design: explicit prices are honoured exactly or refused, others follow the market and the floor. */
const REPLACEMENTS: readonly Replacement[] = [
  {
    name: 'explicit at the floor',
    pool: inPool(legacy(100n)),
    change: { gasPrice: 110n },
    want: legacy(110n),
  },
  {
    name: 'explicit one below',
    pool: inPool(legacy(100n)),
    change: { gasPrice: 109n },
    want: 'replacement_underpriced',
    names: 'gas_price 110',
  },
  {
    name: 'explicit fees at the floor',
    pool: inPool(eip1559(1_000n, 10n)),
    change: { maxFeePerGas: 1_100n, maxPriorityFeePerGas: 11n },
    want: eip1559(1_100n, 11n),
  },
  {
    name: 'a high ceiling does not make up for the tip',
    pool: inPool(eip1559(1_000n, 10n)),
    change: { maxFeePerGas: 9_999n, maxPriorityFeePerGas: 10n },
    want: 'replacement_underpriced',
    names: 'max_fee_per_gas 1100 and max_priority_fee_per_gas 11',
  },
  {
    name: 'legacy over EIP-1559',
    pool: inPool(eip1559(1_000n, 10n)),
    change: { gasPrice: 1_100n },
    want: legacy(1_100n),
  },
  {
    name: 'EIP-1559 over legacy: the tip counts against the whole price',
    pool: inPool(legacy(100n)),
    change: { maxFeePerGas: 500n, maxPriorityFeePerGas: 109n },
    want: 'replacement_underpriced',
    names: 'max_priority_fee_per_gas 110',
  },
  {
    name: 'speed, market above the floor',
    pool: inPool(eip1559(20n, 2n)),
    change: { speed: 'safeLow' },
    want: eip1559(110n, 10n),
  },
  {
    name: 'speed, floor above the market',
    pool: inPool(eip1559(1_000n, 100n)),
    change: { speed: 'safeLow' },
    want: eip1559(1_100n, 110n),
  },
  { name: 'no price at all', pool: inPool(eip1559(1_000n, 100n)), change: {}, want: eip1559(1_100n, 110n) },
  {
    name: 'the floor of every attempt, not of the newest',
    pool: inPool(eip1559(2_000n, 10n), eip1559(1_000n, 100n)),
    change: { speed: 'safeLow' },
    want: eip1559(2_200n, 110n),
  },
  {
    name: 'the floor above the cap',
    pool: inPool(eip1559(1_000n, 100n)),
    change: { speed: 'safeLow' },
    policies: { gasPriceCap: 1_099n },
    want: 'gas_price_above_cap',
    names: '1099',
  },
  {
    name: 'the floor at the cap',
    pool: inPool(eip1559(1_000n, 100n)),
    change: { speed: 'safeLow' },
    policies: { gasPriceCap: 1_100n },
    want: eip1559(1_100n, 110n),
  },
  {
    name: 'the market above the cap, the floor below: the cap',
    pool: inPool(eip1559(20n, 2n)),
    change: { speed: 'safeLow' },
    policies: { gasPriceCap: 60n },
    want: eip1559(60n, 10n),
  },
  { name: 'nothing in the pool: no bump', pool: [], change: { gasPrice: 1n }, want: legacy(1n) },
]

describe('prepareReplacement', () => {
  test.each(REPLACEMENTS)('$name', async ({ pool, change, policies = {}, want, names }) => {
    const { context } = contextOf()
    const answer = await prepareReplacement(context, {
      request: requestOf(change),
      attempts: pool,
      account: accountWith(policies),
    })
    if (typeof want !== 'string')
      return expect(answer).toMatchObject({ kind: 'ok', value: { draft: { fees: want } } })
    expect(answer).toMatchObject({ kind: 'refused', refusal: { code: want } })
    if (answer.kind === 'refused' && names) expect(answer.refusal.detail).toContain(names)
  })

  test('asks no node about an underpriced replacement', async () => {
    const { context, asked } = contextOf()
    await prepareReplacement(context, {
      request: requestOf({ gasPrice: 1n }),
      attempts: inPool(legacy(100n)),
      account: accountWith(),
    })
    expect(asked).toEqual([])
  })
})

describe('prepareSpeedUp', () => {
  test('keeps the newest content and its gas, and asks for no estimate', async () => {
    const { context, asked } = contextOf()
    const attempts = [
      attemptOf(eip1559(10n, 1n)),
      attemptOf(eip1559(20n, 2n), {
        number: 2,
        draft: draftOf(eip1559(20n, 2n), { value: 9n, data: '0xff', gasLimit: 77_000n }),
      }),
    ]
    const answer = await prepareSpeedUp(context, { attempts, level: 'safeLow', account: accountWith() })
    expect(answer).toMatchObject({
      kind: 'ok',
      value: { draft: { to: TO, value: 9n, data: '0xff', gasLimit: 77_000n, fees: eip1559(110n, 10n) } },
    })
    expect(asked).toEqual([])
  })

  const speedUp = (fees: Fees, policies: EvmPolicies = {}, market: Partial<Market> = {}) => {
    const { context } = contextOf({ market: { ...MARKET, ...market } })
    return prepareSpeedUp(context, {
      attempts: [attemptOf(fees)],
      level: 'safeLow',
      account: accountWith(policies),
    })
  }

  // The market is 110, of which a block charges 60.
  test.each([
    { name: 'at five times the market', fees: eip1559(500n, 10n), want: eip1559(550n, 11n) },
    { name: 'at the tip that makes it five times', fees: eip1559(400n, 227n), want: eip1559(440n, 250n) },
    {
      name: 'at another multiple',
      fees: eip1559(100n, 9n),
      policies: { feeLimitMultiplier: 1 },
      want: eip1559(110n, 10n),
    },
    {
      name: 'where the market has passed it',
      fees: eip1559(50n, 5n),
      policies: { feeLimitMultiplier: 1 },
      want: eip1559(110n, 10n),
    },
  ])('raises up to the limit: $name', async ({ fees, policies, want }) => {
    const answer = await speedUp(fees, policies)
    expect(answer).toMatchObject({ kind: 'ok', value: { draft: { fees: want } } })
  })

  test.each([
    {
      name: 'above five times the market',
      fees: eip1559(501n, 10n),
      names: 'above 5 times the current market of max_fee_per_gas 110',
    },
    {
      name: 'above the tip that makes it five times',
      fees: eip1559(400n, 228n),
      names: 'fee_limit_multiplier',
    },
    {
      name: 'above another multiple',
      fees: eip1559(101n, 10n),
      policies: { feeLimitMultiplier: 1 },
      names: 'above 1 times',
    },
    {
      name: 'above the cap',
      fees: eip1559(100n, 10n),
      policies: { gasPriceCap: 109n },
      names: 'gas_price_cap of 109',
    },
  ])('refuses a transaction that is $name', async ({ fees, policies, names }) => {
    const answer = await speedUp(fees, policies)
    expect(answer).toMatchObject({
      kind: 'refused',
      refusal: { code: 'gas_price_above_cap', detail: expect.stringContaining(names) },
    })
  })

  test('is above no limit that the pool itself demands', async () => {
    const floor = { tip: 900n, ceiling: 900n, stated: true }
    const answer = await speedUp(eip1559(110n, 10n), {}, { floor })
    expect(answer).toMatchObject({ kind: 'ok', value: { draft: { fees: eip1559(1_000n, 900n) } } })
  })

  test('remembers the newest block of all that the service has seen for the transaction', async () => {
    const { context } = contextOf({ market: { ...MARKET, block: { number: 7n, gasLimit: 30_000_000n } } })
    const prepared = async (seenBlock: bigint | undefined, earlier: bigint | undefined) => {
      const draft = draftOf(eip1559(10n, 1n), earlier === undefined ? {} : { preparedAtBlock: earlier })
      const answer = await prepareSpeedUp(context, {
        attempts: [attemptOf(eip1559(10n, 1n), { draft })],
        level: 'fast',
        account: accountWith(),
        seenBlock,
      })
      return answer.kind === 'ok' ? answer.value.draft.preparedAtBlock : answer.kind
    }
    expect(await prepared(undefined, undefined)).toBe(7n)
    expect(await prepared(9n, undefined)).toBe(9n)
    expect(await prepared(undefined, 8n)).toBe(8n)
    expect(await prepared(6n, 5n)).toBe(7n)
  })
})

describe('the price of exactly this content', () => {
  const quoted = (tip: bigint) => ({
    ...contextOf().context,
    quote: async () => ({ tip, ceiling: tip + 50n, stated: true }),
  })
  const request = requestOf({ speed: 'safeLow', gasLimit: 21_000n })

  test('counts above the market, also for a raise', async () => {
    const account = accountWith()
    expect(await prepareDraft(quoted(90n), { request, account })).toMatchObject({
      value: { draft: { fees: eip1559(190n, 90n) } },
    })
    const attempts = [attemptOf(eip1559(700n, 90n))]
    expect(await prepareSpeedUp(quoted(90n), { attempts, level: 'safeLow', account })).toMatchObject({
      value: { draft: { fees: eip1559(770n, 99n) } },
    })
  })

  test('counts for nothing when it is below the market, or not known', async () => {
    for (const context of [quoted(9n), { ...quoted(9n), quote: async () => undefined }])
      expect(await prepareDraft(context, { request, account: accountWith() })).toMatchObject({
        value: { draft: { fees: eip1559(110n, 10n) } },
      })
  })

  test('is asked for no price of the caller', async () => {
    const context = {
      ...quoted(9n),
      quote: async () => {
        throw new Error('asked')
      },
    }
    const own = requestOf({ gasPrice: 7n, gasLimit: 21_000n })
    expect((await prepareDraft(context, { request: own, account: accountWith() })).kind).toBe('ok')
  })
})

describe('the cap of the fee of one transaction', () => {
  // 21,000 gas with its margin, at 3 × 50 wei of base fee and a tip of 10.
  const GAS = 23_100n
  const FEE = GAS * 160n

  const prepared = async (txFeeCap: bigint, change: Partial<EvmRequest> = {}) => {
    const { context } = contextOf()
    return prepareDraft(context, { request: requestOf(change), account: accountWith({ txFeeCap }) })
  }

  test('changes nothing of a fee that keeps it', async () => {
    const answer = await prepared(FEE)
    expect(answer).toMatchObject({ value: { draft: { fees: eip1559(160n, 10n) }, logs: [] } })
  })

  test('lowers the offer while the next block would still accept it', async () => {
    const answer = await prepared(GAS * 60n)
    expect(answer).toMatchObject({
      value: {
        draft: { fees: eip1559(60n, 10n) },
        logs: [expect.stringContaining('tx_fee_cap is 1386000 wei')],
      },
    })
    expect(answer).not.toHaveProperty('value.awaitsPrice')
  })

  test('holds back what the next block would cost more for, and says so', async () => {
    const answer = await prepared(GAS * 49n)
    const awaitsPrice =
      'Waiting for a lower price: 23100 gas cost at least 1155000 wei now, and tx_fee_cap allows 1131900. It is signed when a block can include it for that; until then others overtake it.'
    expect(answer).toMatchObject({ value: { awaitsPrice, logs: [awaitsPrice] } })
  })

  test("refuses a caller's own price above it", async () => {
    const answer = await prepared(FEE, { maxFeePerGas: 200n, maxPriorityFeePerGas: 1n })
    expect(answer).toMatchObject({
      refusal: {
        code: 'fee_above_cap',
        detail: `its fee would be up to ${GAS * 200n} wei (23100 gas, max_fee_per_gas 200 and max_priority_fee_per_gas 1), and at most ${FEE} is allowed by tx_fee_cap.`,
      },
    })
  })

  test('ends raises, and is that of the network unless a policy names another', async () => {
    const { context } = contextOf()
    const capped = { ...context, txFeeCap: FEE }
    const attempts = [
      attemptOf(eip1559(160n, 10n), { draft: draftOf(eip1559(160n, 10n), { gasLimit: GAS }) }),
    ]
    const raise = { attempts, level: 'fast', account: accountWith() } as const
    expect(await prepareSpeedUp(capped, raise)).toMatchObject({ refusal: { code: 'fee_above_cap' } })
    const richer = { ...raise, account: accountWith({ txFeeCap: 2n * FEE }) }
    expect((await prepareSpeedUp(capped, richer)).kind).toBe('ok')
  })
})
