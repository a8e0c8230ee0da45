import { describe, expect, test } from 'vitest'
import type { ComparedBlock, PriceComparison } from '../../../src/chains/answer.ts'
import { decideRaise, type RaiseCase } from '../../../src/transactions/broadcast/raise-fee.ts'

const BLOCK: ComparedBlock = { number: 7n, isNew: true, leftOut: 'room' }
const OLD: ComparedBlock = { ...BLOCK, isNew: false }
const AT_MARKET: PriceComparison = { bid: 100n, market: 100n, baseFee: 50n, newest: BLOCK }

interface Case extends Partial<Omit<RaiseCase, 'price'>> {
  readonly name: string
  readonly price?: Partial<PriceComparison> & { readonly leftOut?: ComparedBlock['leftOut'] }
  readonly want: 'raise' | 'no_new_block' | 'builders_choice' | 'price_is_right'
}

const CASES: readonly Case[] = [
  { name: 'a block with room left it out', want: 'raise' },
  { name: 'a block with room left out what was raised before', isRaised: true, want: 'raise' },
  { name: 'a full block preferred others', price: { leftOut: 'outbid' }, want: 'raise' },
  {
    name: 'a full block preferred others that paid less',
    price: { leftOut: 'full' },
    want: 'price_is_right',
  },
  { name: 'the block asked for more than it offers', price: { leftOut: 'base_fee' }, want: 'price_is_right' },
  { name: 'the next block asks for more than it offers', price: { bid: 49n }, want: 'raise' },
  { name: 'the next block asks for as much', price: { bid: 50n, leftOut: 'full' }, want: 'price_is_right' },
  { name: 'there is no new block', price: { newest: OLD }, want: 'no_new_block' },
  {
    name: 'there is no new block, and it is below the market',
    price: { newest: OLD, bid: 99n },
    want: 'no_new_block',
  },
  {
    name: 'there is no new block, and it is below the base fee',
    price: { newest: OLD, bid: 49n },
    want: 'raise',
  },
  {
    name: 'there is no new block since it was raised, and it is below the base fee',
    price: { newest: OLD, bid: 49n },
    isRaised: true,
    want: 'no_new_block',
  },
  { name: 'the newest block is not known', price: { newest: undefined }, want: 'price_is_right' },
  { name: 'only the base fee is known', price: { newest: undefined, bid: 49n }, want: 'raise' },
  {
    name: 'only the base fee is known, again',
    price: { newest: undefined, bid: 49n },
    isRaised: true,
    want: 'price_is_right',
  },
  { name: 'private endpoints have it', isOnlyPrivate: true, want: 'builders_choice' },
  {
    name: 'private endpoints have it, and blocks are full of others',
    isOnlyPrivate: true,
    price: { leftOut: 'outbid' },
    want: 'builders_choice',
  },
  {
    name: 'private endpoints have it, below the market',
    isOnlyPrivate: true,
    price: { bid: 99n },
    want: 'raise',
  },
  {
    name: 'private endpoints have it, below the base fee',
    isOnlyPrivate: true,
    price: { bid: 49n },
    want: 'raise',
  },
  {
    name: 'private endpoints have it, and there is no new block',
    isOnlyPrivate: true,
    price: { bid: 99n, newest: OLD },
    want: 'no_new_block',
  },
  { name: 'no node has it', isAccepted: false, want: 'price_is_right' },
  { name: 'no node has it, below the market', isAccepted: false, price: { bid: 99n }, want: 'raise' },
  { name: 'a sequencer has it and had room', ordersByTip: false, want: 'price_is_right' },
  {
    name: 'a sequencer has it and its block is full',
    ordersByTip: false,
    price: { leftOut: 'outbid' },
    want: 'price_is_right',
  },
  { name: 'a sequencer has it, below the base fee', ordersByTip: false, price: { bid: 49n }, want: 'raise' },
  {
    name: 'no sequencer has it, below the market',
    ordersByTip: false,
    isAccepted: false,
    price: { bid: 99n },
    want: 'price_is_right',
  },
]

describe('the fee of what waits', () => {
  test.each(CASES)('$name: $want', ({ price: { leftOut, ...price } = {}, want, ...change }) => {
    const newest = leftOut === undefined ? BLOCK : { ...BLOCK, leftOut }
    const decision = decideRaise({
      price: { ...AT_MARKET, newest, ...price },
      isAccepted: true,
      isRaised: false,
      isOnlyPrivate: false,
      ordersByTip: true,
      ...change,
    })
    expect(decision.kind === 'raise' ? decision.kind : decision.code).toBe(want)
  })

  test('says since when there was no block', () => {
    const newest = { ...OLD, time: new Date('2030-01-01T00:00:00.000Z') }
    const waiting = { isAccepted: true, isRaised: false, isOnlyPrivate: false, ordersByTip: true }
    expect(decideRaise({ ...waiting, price: { ...AT_MARKET, newest } })).toEqual({
      kind: 'wait',
      code: 'no_new_block',
      detail: 'no new block since block 7 of 2030-01-01T00:00:00.000Z, so its fee is not raised.',
    })
    expect(decideRaise({ ...waiting, price: { ...AT_MARKET, newest: OLD } })).toMatchObject({
      detail: 'no new block since block 7, so its fee is not raised.',
    })
  })
})
