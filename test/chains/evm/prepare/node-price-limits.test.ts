import { parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import type { EvmDraft, Fees } from '../../../../src/chains/evm/content.ts'
import { comparePrice } from '../../../../src/chains/evm/prepare/compare.ts'
import { type Market, marketFees, tipOf } from '../../../../src/chains/evm/prepare/fees.ts'
import { createGasLimits, createPriceBounds } from '../../../../src/chains/evm/prepare/node-limits.ts'
import { type PrepareContext, prepareDraft } from '../../../../src/chains/evm/prepare/prepare.ts'
import { createSimulationRefusals } from '../../../../src/chains/simulations.ts'
import { createTestClock } from '../../../support/clock.ts'
import { accountWith, draftOf, eip1559, legacy, requestOf } from '../build.ts'

const GWEI = 1_000_000_000n

const MARKET: Market = {
  gasPrice: 100n,
  baseFee: 50n,
  blockGasLimit: 30_000_000n,
  tips: { safeLow: 10n, average: 10n, fast: 10n, fastest: 10n },
}

describe('what nodes said of prices', () => {
  test.each([
    {
      message: 'transaction underpriced: tip needed 500, tip permitted 10',
      floor: { tip: 500n, ceiling: 500n, stated: true },
    },
    {
      message: 'transaction underpriced: gas tip cap 10, minimum needed 500',
      floor: { tip: 500n, ceiling: 500n, stated: true },
    },
    {
      message: 'transaction priority fee below minimum required priority fee 500',
      floor: { tip: 500n, ceiling: 500n, stated: true },
    },
    {
      message: 'FeeTooLow, EffectivePriorityFeePerGas too low 10 < 20, BaseFee: 30',
      floor: { tip: 20n, ceiling: 50n, stated: true },
    },
    {
      message: 'gas price too low: 1 wei, use at least tx.gasPrice = 500 wei',
      floor: { tip: 0n, ceiling: 500n, stated: true },
    },
    {
      message: "Gas price '83' is below configured minimum gas price '500'",
      floor: { tip: 0n, ceiling: 500n, stated: true },
    },
    {
      message: 'max fee per gas less than block base fee: address 0xf3, maxFeePerGas: 1, baseFee: 70',
      floor: { tip: 0n, ceiling: 70n, stated: true },
    },
    { message: 'max fee per gas less than block base fee', floor: { tip: 0n, ceiling: 0n, stated: true } },
    {
      message: 'Gas price below configured minimum gas price',
      floor: { tip: 21n, ceiling: 221n, stated: false },
    },
  ])('"$words"', ({ message, floor }) => {
    const bounds = createPriceBounds(createTestClock())
    bounds.sawTooCheap(eip1559(110n, 10n), [message])
    expect(bounds.current().floor).toEqual(floor)
  })

  test.each([
    { message: 'tx fee (3.00 ether) exceeds the configured cap (1.00 ether)', want: parseEther('0.995') },
    { message: 'tx fee (3.00 ether) exceeds the configured cap (0.00 ether)', want: parseEther('1.5') },
    {
      message: 'tx fee (3000000000000000000 wei) exceeds the configured cap (1000000000000000001 wei)',
      want: 1_000_000_000_000_000_001n,
    },
    { message: 'fee exceeds the configured cap', want: parseEther('1.5') },
  ])('"$words"', ({ message, want }) => {
    const bounds = createPriceBounds(createTestClock())
    bounds.sawTooDear(parseEther('3'), [message])
    expect(bounds.current()).toEqual({ maximumFee: want })
  })

  test('are forgotten after a minute, and the higher minimum counts until then', () => {
    const clock = createTestClock()
    const bounds = createPriceBounds(clock)
    bounds.sawTooCheap(legacy(1n), ['tip needed 500'])
    bounds.sawTooCheap(legacy(1n), ['tip needed 300'])
    expect(bounds.current().floor?.tip).toBe(500n)
    clock.advance(59_999)
    expect(bounds.current().floor?.tip).toBe(500n)
    clock.advance(1)
    expect(bounds.current().floor).toBeUndefined()
  })

  test('keep the minimum of a pool for an hour, for prices that callers name', () => {
    const clock = createTestClock()
    const bounds = createPriceBounds(clock)
    bounds.sawTooCheap(legacy(1n), ['max fee per gas less than block base fee: baseFee: 70'])
    expect(bounds.current().poolMinimum).toBeUndefined()
    bounds.sawTooCheap(legacy(1n), ['tip needed 500'])
    clock.advance(3_599_999)
    expect(bounds.current()).toEqual({ poolMinimum: { tip: 500n, price: 0n } })
    clock.advance(1)
    expect(bounds.current()).toEqual({})
  })
})

describe('the price of the market', () => {
  test.each([
    { name: 'without a minimum', floor: undefined, want: eip1559(110n, 10n) },
    {
      name: 'a stated tip, on top of the base fee',
      floor: { tip: 500n, ceiling: 500n, stated: true },
      want: eip1559(600n, 500n),
    },
    { name: 'a stated base fee', floor: { tip: 0n, ceiling: 700n, stated: true }, want: eip1559(700n, 10n) },
    { name: 'a lower minimum', floor: { tip: 1n, ceiling: 1n, stated: true }, want: eip1559(110n, 10n) },
    { name: 'a guess', floor: { tip: 21n, ceiling: 221n, stated: false }, want: eip1559(221n, 50n) },
    {
      name: 'a guess, five times the market at most',
      floor: { tip: 9_999n, ceiling: 9_999n, stated: false },
      want: eip1559(550n, 250n),
    },
    {
      name: 'a stated tip, 32 times what a block charges at most',
      floor: { tip: 9_999n, ceiling: 9_999n, stated: true },
      want: eip1559(3_520n, 1_870n),
    },
  ])('$name', ({ floor, want }) => {
    const market = floor === undefined ? MARKET : { ...MARKET, floor }
    expect(marketFees(market, 'safeLow', { eip1559: true })).toEqual(want)
  })

  test('follows a guess as far as the multiplier of the relayer goes, and a number that a node names at least as far', () => {
    const priced = (stated: boolean, feeLimitMultiplier: number) => {
      const floor = { tip: 9_999n, ceiling: 9_999n, stated }
      return marketFees({ ...MARKET, floor }, 'safeLow', { eip1559: true, feeLimitMultiplier })
    }
    // The gas price of 100, which the node suggests, is the market, too.
    expect(priced(false, 1)).toEqual(eip1559(150n, 50n))
    expect(priced(false, 2)).toEqual(eip1559(220n, 70n))
    expect(priced(true, 1)).toEqual(eip1559(3_520n, 1_870n))
    expect(priced(true, 40)).toEqual(eip1559(4_400n, 2_350n))
  })

  describe('that blocks were paid little lately, while eth_gasPrice names what pools take', () => {
    /** Nearly empty blocks of Polygon: the pools take nothing below a tip of 25 gwei, and eth_gasPrice says so. */
    const quiet = {
      gasPrice: 26n * GWEI,
      baseFee: GWEI / 20n,
      blockGasLimit: 30_000_000n,
      tips: { safeLow: 5n, average: 5n, fast: 5n, fastest: 5n },
    }

    test('follows the minimum that a node names, however far it is above the blocks', () => {
      const floor = { tip: 25n * GWEI, ceiling: 25n * GWEI, stated: true }
      const fees = marketFees({ ...quiet, floor }, 'fast', { eip1559: true })
      expect(tipOf(fees)).toBe(25n * GWEI)
    })

    test('offers what eth_gasPrice suggests when a pool names no number, and goes no further', () => {
      const bounds = createPriceBounds(createTestClock())
      const tips: bigint[] = []
      let fees = marketFees(quiet, 'fast', { eip1559: true })
      for (let refusals = 0; refusals < 3; refusals += 1) {
        tips.push(tipOf(fees))
        bounds.sawTooCheap(fees, ['transaction underpriced'])
        fees = marketFees({ ...quiet, ...bounds.current() }, 'fast', { eip1559: true })
      }
      const suggested = 26n * GWEI - GWEI / 20n
      expect(tips).toEqual([5n, suggested, suggested])
    })

    test('does not follow a minimum that eth_gasPrice denies', () => {
      const floor = { tip: 25_000n * GWEI, ceiling: 25_000n * GWEI, stated: true }
      const fees = marketFees({ ...quiet, floor }, 'fast', { eip1559: true })
      expect(tipOf(fees)).toBeLessThanOrEqual(52n * GWEI)
    })
  })

  test.each([
    { name: 'with a base fee of zero', eip1559: true, want: eip1559(5n * GWEI, 5n * GWEI) },
    { name: 'legacy', eip1559: false, want: legacy(5n * GWEI) },
  ])('grows from zero to five gwei where no source names a price, $name', ({ eip1559: network, want }) => {
    const nothing = { safeLow: 0n, average: 0n, fast: 0n, fastest: 0n }
    const market = { gasPrice: 0n, baseFee: 0n, blockGasLimit: 30_000_000n, tips: nothing }
    const bounds = createPriceBounds(createTestClock())
    const bids: bigint[] = []
    let fees = marketFees(market, 'fast', { eip1559: network })
    for (let refusals = 0; refusals < 8; refusals += 1) {
      bids.push(tipOf(fees))
      bounds.sawTooCheap(fees, ['transaction underpriced'])
      fees = marketFees({ ...market, ...bounds.current() }, 'fast', { eip1559: network })
    }
    expect(bids.slice(0, 3)).toEqual([0n, GWEI / 10n, GWEI / 5n + 1n])
    expect(fees).toEqual(want)
  })

  test('reaches the minimum of a pool with a legacy price, too', () => {
    const floor = { tip: 500n, ceiling: 500n, stated: true }
    expect(marketFees({ ...MARKET, floor }, 'safeLow', { eip1559: false })).toEqual(legacy(500n))
  })
})

describe('a maximum of the endpoints', () => {
  const prepare = (maximumFee: bigint, change: object = {}) => {
    const context: PrepareContext = {
      client: {
        send: async () => [],
        call: async () => ({ kind: 'unknown', detail: 'not asked' }),
        sendEverywhere: async () => [],
        states: () => [],
      },
      now: () => 0,
      blocktimeMs: 12_000,
      simulations: createSimulationRefusals(1n, createTestClock()),
      txFeeCap: 10n ** 18n,
      gasLimits: createGasLimits(createTestClock()),
      market: async () => ({ kind: 'ok', value: { ...MARKET, maximumFee } }),
      eip1559: true,
    }
    const request = requestOf({ gasLimit: 100_000n, speed: 'safeLow', ...change })
    return prepareDraft(context, { request, account: accountWith() })
  }

  test.each([
    { name: 'above what is offered: nothing changes', maximum: 11_000_000n, want: eip1559(110n, 10n) },
    { name: 'below it: the price is lowered', maximum: 10_999_000n, want: eip1559(109n, 10n) },
    { name: 'just what the next block asks', maximum: 5_000_000n, want: eip1559(50n, 10n) },
  ])('$name', async ({ maximum, want }) => {
    expect(await prepare(maximum)).toMatchObject({ kind: 'ok', value: { draft: { fees: want } } })
  })

  test('below what the next block asks makes the transaction wait, with the reason', async () => {
    expect(await prepare(4_999_000n)).toEqual({
      kind: 'unknown',
      detail: expect.stringMatching(/fee above 4999000 wei .*txfeecap.* at least 5000000 wei/),
    })
  })

  test('changes no price of the caller', async () => {
    const own = { speed: undefined, maxFeePerGas: 900n, maxPriorityFeePerGas: 1n }
    expect(await prepare(10_000n, own)).toMatchObject({
      kind: 'ok',
      value: { draft: { fees: eip1559(900n, 1n) } },
    })
  })
})

describe('the comparison of prices', () => {
  const TIME = new Date('2030-01-01T00:00:00.000Z')

  /** `fast` bids 3 times the base fee and a tip of 10: 160. A block would charge 60 of it. */
  const MARKET: Market = {
    gasPrice: 60n,
    baseFee: 50n,
    blockGasLimit: 1_000_000n,
    tips: { safeLow: 5n, average: 8n, fast: 10n, fastest: 20n },
    block: { number: 7n, baseFee: 48n, gasLimit: 1_000_000n, gasUsed: 100n, time: TIME },
  }

  const compare = (
    fees: Fees,
    { draft = {}, market = {} }: { draft?: Partial<EvmDraft>; market?: Partial<Market> } = {},
  ) =>
    comparePrice(draftOf(fees, draft), {
      level: 'fast',
      txFeeCap: 10n ** 18n,
      market: { ...MARKET, ...market },
    })

  describe('a draft is compared', () => {
    test('with the market and the newest block', () => {
      expect(compare(eip1559(160n, 10n), { draft: { preparedAtBlock: 6n } })).toEqual({
        bid: 160n,
        market: 160n,
        baseFee: 50n,
        limit: 800n,
        feeCap: 10n ** 18n / 21_000n,
        newest: { number: 7n, time: TIME, isNew: true, leftOut: 'room' },
      })
    })

    test('with a market whose block is not known', () => {
      const { block: _, baseFee: __, ...market } = MARKET
      expect(comparePrice(draftOf(legacy(60n)), { level: 'fast', txFeeCap: 10n ** 18n, market })).toEqual({
        bid: 60n,
        market: 90n,
        limit: 450n,
        feeCap: 10n ** 18n / 21_000n,
      })
    })

    test.each([
      { preparedAtBlock: 6n, isNew: true },
      { preparedAtBlock: 7n, isNew: false },
      { preparedAtBlock: 8n, isNew: false },
      // No node told it.
      { preparedAtBlock: undefined, isNew: true },
    ])(
      'with block 7, which is new for a draft that was prepared at $preparedAtBlock: $isNew',
      ({ preparedAtBlock, isNew }) => {
        const draft = preparedAtBlock === undefined ? {} : { preparedAtBlock }
        expect(compare(eip1559(160n, 10n), { draft }).newest?.isNew).toBe(isNew)
      },
    )

    test.each([
      { name: 'had room', fees: eip1559(160n, 10n), block: {}, leftOut: 'room' },
      {
        name: 'had just enough room',
        fees: eip1559(160n, 10n),
        block: { gasUsed: 979_000n },
        leftOut: 'room',
      },
      {
        name: 'does not tell its room',
        fees: eip1559(160n, 10n),
        block: { gasUsed: undefined },
        leftOut: 'room',
      },
      { name: 'asked for more', fees: eip1559(47n, 10n), block: {}, leftOut: 'base_fee' },
      { name: 'asked for as much', fees: eip1559(48n, 10n), block: {}, leftOut: 'room' },
      {
        name: 'is full of others that paid more',
        fees: eip1559(160n, 19n),
        block: { gasUsed: 979_001n },
        leftOut: 'outbid',
      },
      {
        name: 'is full, and hardly anything paid more',
        fees: eip1559(160n, 20n),
        block: { gasUsed: 979_001n },
        leftOut: 'full',
      },
      {
        name: 'left little of the offer as a tip',
        fees: eip1559(60n, 20n),
        block: { gasUsed: 979_001n },
        leftOut: 'outbid',
      },
      {
        name: 'has no base fee',
        fees: legacy(20n),
        block: { baseFee: undefined, gasUsed: 979_001n },
        leftOut: 'full',
      },
    ])('with a block that $name: $leftOut', ({ fees, block, leftOut }) => {
      const market = { block: { number: 7n, baseFee: 48n, gasLimit: 1_000_000n, gasUsed: 100n, ...block } }
      expect(compare(fees, { market }).newest?.leftOut).toBe(leftOut)
    })

    test.each([
      { name: 'the market', fees: eip1559(160n, 10n), atLimit: undefined },
      { name: 'a raise below the limit', fees: eip1559(727n, 100n), atLimit: undefined },
      { name: 'a raise above the ceiling of the limit', fees: eip1559(728n, 100n), atLimit: true },
      // Five times 60 less the base fee.
      { name: 'a raise just below the tip of the limit', fees: eip1559(600n, 227n), atLimit: undefined },
      { name: 'a raise above the tip of the limit', fees: eip1559(600n, 228n), atLimit: true },
    ])('with the limit of raises: $name', ({ fees, atLimit }) => {
      expect(compare(fees).atLimit).toBe(atLimit)
    })

    test('with the limit of the relayer', () => {
      const draft = draftOf(eip1559(160n, 10n))
      expect(
        comparePrice(draft, { level: 'fast', txFeeCap: 10n ** 18n, market: MARKET, feeLimitMultiplier: 1 }),
      ).toMatchObject({
        limit: 160n,
        atLimit: true,
      })
    })

    test('with what a pool demands: a limit below it would keep the transaction out for ever', () => {
      const floor = { tip: 1_000n, ceiling: 1_000n, stated: true }
      expect(compare(eip1559(160n, 10n), { market: { floor } })).toMatchObject({
        market: 1_150n,
        limit: 1_150n,
      })
    })
  })
})
