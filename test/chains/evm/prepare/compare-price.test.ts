import { describe, expect, test } from 'vitest'
import type { EvmDraft, Fees } from '../../../../src/chains/evm/content.ts'
import { comparePrice } from '../../../../src/chains/evm/prepare/compare.ts'
import type { Market } from '../../../../src/chains/evm/prepare/fees.ts'
import { draftOf, eip1559, legacy } from '../build.ts'

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
) => comparePrice(draftOf(fees, draft), { level: 'fast', market: { ...MARKET, ...market } })

describe('a draft is compared', () => {
  test('with the market and the newest block', () => {
    expect(compare(eip1559(160n, 10n), { draft: { preparedAtBlock: 6n } })).toEqual({
      bid: 160n,
      market: 160n,
      baseFee: 50n,
      limit: 800n,
      newest: { number: 7n, time: TIME, isNew: true, leftOut: 'room' },
    })
  })

  test('with a market whose block is not known', () => {
    const { block: _, baseFee: __, ...market } = MARKET
    expect(comparePrice(draftOf(legacy(60n)), { level: 'fast', market })).toEqual({
      bid: 60n,
      market: 90n,
      limit: 450n,
    })
  })

  test.each([
    { preparedAtBlock: 6n, isNew: true },
    { preparedAtBlock: 7n, isNew: false },
    { preparedAtBlock: 8n, isNew: false },
    // No node told it.
    { preparedAtBlock: undefined, isNew: true },
  ])('and is older than block 7 when prepared at $preparedAtBlock: $isNew', ({ preparedAtBlock, isNew }) => {
    const draft = preparedAtBlock === undefined ? {} : { preparedAtBlock }
    expect(compare(eip1559(160n, 10n), { draft }).newest?.isNew).toBe(isNew)
  })

  test.each([
    { name: 'had room', fees: eip1559(160n, 10n), block: {}, leftOut: 'room' },
    { name: 'had just enough room', fees: eip1559(160n, 10n), block: { gasUsed: 979_000n }, leftOut: 'room' },
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
    expect(comparePrice(draft, { level: 'fast', market: MARKET, feeLimitMultiplier: 1 })).toMatchObject({
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
