import { describe, expect, test } from 'vitest'
import {
  bumped,
  capped,
  describeFloor,
  explicitFees,
  type Floor,
  type Market,
  marketFees,
  raisedTo,
  reaches,
  replacementFloor,
} from '../../../../src/chains/evm/prepare/fees.ts'
import { attemptOf, eip1559, legacy } from '../build.ts'

const GWEI = 1_000_000_000n

const MARKET: Market = {
  gasPrice: 10n * GWEI,
  baseFee: 8n * GWEI,
  blockGasLimit: 30_000_000n,
  tips: { safeLow: 1n, average: 2n, fast: 3n, fastest: 4n },
}

describe('bumped', () => {
  test.each([
    { price: 0n, want: 1n },
    { price: 1n, want: 2n },
    { price: 9n, want: 10n },
    { price: 10n, want: 11n },
    { price: 11n, want: 13n },
    { price: 100n, want: 110n },
    { price: 101n, want: 112n },
    { price: 10n ** 30n + 1n, want: (11n * 10n ** 30n) / 10n + 2n },
  ])('$price becomes $want: 110 %, rounded up, and never the same', ({ price, want }) => {
    expect(bumped(price)).toBe(want)
  })
})

describe('explicitFees', () => {
  test.each([
    { name: 'none', request: {}, want: undefined },
    { name: 'a gas price', request: { gasPrice: 5n }, want: legacy(5n) },
    { name: 'a gas price of zero is a price', request: { gasPrice: 0n }, want: legacy(0n) },
    { name: 'both fees', request: { maxFeePerGas: 5n, maxPriorityFeePerGas: 1n }, want: eip1559(5n, 1n) },
    { name: 'half of them is no price', request: { maxFeePerGas: 5n }, want: undefined },
  ])('$name', ({ request, want }) => {
    expect(explicitFees({ type: 'evm', value: 0n, ...request })).toEqual(want)
  })
})

describe('marketFees', () => {
  test.each([
    { level: 'safeLow', network: true, want: eip1559(16n * GWEI + 1n, 1n) },
    { level: 'average', network: true, want: eip1559(20n * GWEI + 2n, 2n) },
    { level: 'fast', network: true, want: eip1559(24n * GWEI + 3n, 3n) },
    { level: 'fastest', network: true, want: eip1559(32n * GWEI + 4n, 4n) },
    { level: undefined, network: true, want: eip1559(24n * GWEI + 3n, 3n) },
    { level: 'safeLow', network: false, want: legacy(10n * GWEI) },
    { level: 'average', network: false, want: legacy((125n * GWEI) / 10n) },
    { level: 'fastest', network: false, want: legacy(20n * GWEI) },
  ] as const)('$level, EIP-1559 $network', ({ level, network, want }) => {
    expect(marketFees(MARKET, level, { eip1559: network })).toEqual(want)
  })

  test('is legacy where blocks have no base fee, whatever the network is said to support', () => {
    const { baseFee: _, ...market } = MARKET
    expect(marketFees(market, 'safeLow', { eip1559: true })).toEqual(legacy(10n * GWEI))
  })
})

describe('capped', () => {
  test.each([
    { name: 'no cap', fees: eip1559(9n, 2n), cap: undefined, want: eip1559(9n, 2n) },
    { name: 'below the cap', fees: eip1559(9n, 2n), cap: 9n, want: eip1559(9n, 2n) },
    { name: 'only the ceiling is above', fees: eip1559(9n, 2n), cap: 5n, want: eip1559(5n, 2n) },
    { name: 'the tip is above too', fees: eip1559(9n, 7n), cap: 5n, want: eip1559(5n, 5n) },
    { name: 'legacy', fees: legacy(9n), cap: 5n, want: legacy(5n) },
  ])('$name', ({ fees, cap, want }) => {
    expect(capped(fees, cap)).toEqual(want)
  })
})

describe('replacementFloor', () => {
  test.each([
    { name: 'nothing in the pool', attempts: [], want: undefined },
    {
      name: 'only refused attempts',
      attempts: [attemptOf(eip1559(100n, 10n), { outcome: 'refused' })],
      want: undefined,
    },
    {
      name: 'one EIP-1559 attempt',
      attempts: [attemptOf(eip1559(100n, 10n))],
      want: { ceiling: 110n, tip: 11n },
    },
    {
      name: 'one legacy attempt pays its whole price as tip',
      attempts: [attemptOf(legacy(100n))],
      want: { ceiling: 110n, tip: 110n },
    },
    {
      name: 'the highest of each field, whichever attempt has it',
      attempts: [attemptOf(eip1559(100n, 40n)), attemptOf(eip1559(200n, 30n), { number: 2 })],
      want: { ceiling: 220n, tip: 44n },
    },
    {
      name: 'an attempt that is signed and perhaps on its way counts',
      attempts: [attemptOf(legacy(100n), { outcome: 'signed' })],
      want: { ceiling: 110n, tip: 110n },
    },
  ])('$name', ({ attempts, want }) => {
    expect(replacementFloor(attempts)).toEqual(want)
  })
})

describe('reaching the floor', () => {
  const floor: Floor = { ceiling: 110n, tip: 11n }
  test.each([
    { fees: eip1559(110n, 11n), reached: true, raised: eip1559(110n, 11n) },
    { fees: eip1559(109n, 11n), reached: false, raised: eip1559(110n, 11n) },
    { fees: eip1559(110n, 10n), reached: false, raised: eip1559(110n, 11n) },
    { fees: eip1559(500n, 0n), reached: false, raised: eip1559(500n, 11n) },
    { fees: legacy(110n), reached: true, raised: legacy(110n) },
    { fees: legacy(109n), reached: false, raised: legacy(110n) },
    { fees: legacy(200n), reached: true, raised: legacy(200n) },
  ])('$fees', ({ fees, reached, raised }) => {
    expect(reaches(fees, floor)).toBe(reached)
    expect(raisedTo(fees, floor)).toEqual(raised)
  })

  test('from legacy to EIP-1559 the tip has to beat the whole old price', () => {
    const overLegacy = replacementFloor([attemptOf(legacy(100n))])
    expect(overLegacy && raisedTo(eip1559(150n, 1n), overLegacy)).toEqual(eip1559(150n, 110n))
  })

  test('the ceiling follows a tip that is raised above it', () => {
    expect(raisedTo(eip1559(5n, 5n), { ceiling: 6n, tip: 50n })).toEqual(eip1559(50n, 50n))
  })

  test('is described in the words of the request', () => {
    expect(describeFloor(floor, 'legacy')).toBe('gas_price 110')
    expect(describeFloor(floor, 'eip1559')).toBe('max_fee_per_gas 110 and max_priority_fee_per_gas 11')
  })
})
