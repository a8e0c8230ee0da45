import { describe, expect, test } from 'vitest'
import { toPage } from '../../../src/handlers/present/shared.ts'
import { presentTransaction, presentWithAttempts } from '../../../src/handlers/present/transaction.ts'
import { draftOf, eip1559, FROM, legacy, requestOf, TO } from '../../chains/evm/build.ts'
import { itemOf } from '../../transactions/build.ts'
import { chainOf, createStubChain } from '../../transactions/stub-chain.ts'

const chain = chainOf(createStubChain())
const SIGNED_AT = new Date('2030-01-01T00:00:01.000Z')
const BROADCAST_AT = new Date('2030-01-01T00:00:02.000Z')
const signature = { r: 'aa', s: 'bb', v: 1, sig: 'aabb01' }

function attempt(number: number, fees = eip1559(2n ** 100n, 10n)) {
  return {
    signed: { raw: new Uint8Array(), hash: `0x${number}`, signature },
    draft: draftOf(fees, { value: 2n ** 128n - 1n, data: '0xff', gasLimit: 50_000n }),
    signedAt: SIGNED_AT,
    broadcastAt: BROADCAST_AT,
  }
}

const paid = (amount: string) => ({
  from: FROM,
  to: TO,
  asset: 'native',
  amount,
  symbol: 'ETH',
  decimals: 18,
  expected: true,
})

describe('presentTransaction', () => {
  test('shows what was asked for before anything is signed, and leaves out unknown fields', () => {
    const request = requestOf({ value: 2n ** 128n - 1n, gasPrice: 2n ** 64n })
    const { transaction } = itemOf([], {
      status: 'pending',
      request,
      nonce: undefined,
      currentAttempt: undefined,
    })
    expect(presentTransaction({ transaction, attempts: [] }, chain)).toStrictEqual({
      id: 'tx',
      relayer_id: 'relayer',
      network_type: 'evm',
      status: 'pending',
      created_at: '1970-01-01T00:00:00.000Z',
      from: FROM,
      to: TO,
      value: '340282366920938463463374607431768211455',
      gas_price: '18446744073709551616',
      transfers: [paid('340282366920938463463374607431768211455')],
    })
  })

  test('shows the attempt that counts as soon as there is one, with exact amounts and RFC 3339 times', () => {
    const item = itemOf([attempt(1), attempt(2)], {
      currentAttempt: 1,
      confirmedAt: new Date('2030-01-01T00:00:03.004Z'),
    })
    expect(presentTransaction(item, chain)).toStrictEqual({
      id: 'tx',
      relayer_id: 'relayer',
      network_type: 'evm',
      status: 'submitted',
      created_at: '1970-01-01T00:00:00.000Z',
      sent_at: '2030-01-01T00:00:02.000Z',
      confirmed_at: '2030-01-01T00:00:03.004Z',
      hash: '0x1',
      from: FROM,
      to: TO,
      value: '340282366920938463463374607431768211455',
      data: '0xff',
      nonce: 5n,
      gas_limit: 50_000n,
      max_fee_per_gas: '1267650600228229401496703205376',
      max_priority_fee_per_gas: '10',
      transfers: [paid('340282366920938463463374607431768211455')],
      requested: { to: TO, value: '1', transfers: [paid('1')] },
      signature,
      speed: { level: 'fast', price_multiplier: 1.5, raise_after_seconds: 180 },
    })
  })

  test('shows a gas price and no other for a legacy attempt', () => {
    const shown = presentTransaction(itemOf([attempt(1, legacy(7n))]), chain)
    expect(shown).toMatchObject({ gas_price: '7' })
    expect(shown).not.toHaveProperty('max_fee_per_gas')
  })

  test('shows no speed for a request with a price', () => {
    expect(
      presentTransaction(itemOf([attempt(1)], { request: requestOf({ gasPrice: 1n }) }), chain),
    ).not.toHaveProperty('speed')
  })

  test('shows no receiver for a creation', () => {
    const { to: _, ...draft } = draftOf(legacy(1n))
    expect(presentTransaction(itemOf([{ ...attempt(1), draft }]), chain)).not.toHaveProperty('to')
  })
})

test('presentWithAttempts shows every attempt that was ever signed, oldest first', () => {
  const item = itemOf([
    { ...attempt(1), outcome: 'superseded' },
    { ...attempt(2, legacy(9n)), kind: 'cancel', outcome: 'refused', error: 'underpriced' },
  ])
  expect(presentWithAttempts(item, chain).attempts).toStrictEqual([
    {
      number: 1,
      kind: 'send',
      outcome: 'superseded',
      nonce: 5n,
      hash: '0x1',
      to: TO,
      value: '340282366920938463463374607431768211455',
      data: '0xff',
      gas_limit: 50_000n,
      max_fee_per_gas: '1267650600228229401496703205376',
      max_priority_fee_per_gas: '10',
      signed_at: '2030-01-01T00:00:01.000Z',
      broadcast_at: '2030-01-01T00:00:02.000Z',
    },
    expect.objectContaining({
      number: 2,
      kind: 'cancel',
      outcome: 'refused',
      hash: '0x2',
      gas_price: '9',
      error: 'underpriced',
    }),
  ])
})

test.each([
  { query: {}, offset: 0, limit: 10, shown: { current_page: 1, per_page: 10 } },
  { query: { page: 0 }, offset: 0, limit: 10, shown: { current_page: 1, per_page: 10 } },
  { query: { page: 1 }, offset: 0, limit: 10, shown: { current_page: 1, per_page: 10 } },
  { query: { page: 3, per_page: 7 }, offset: 14, limit: 7, shown: { current_page: 3, per_page: 7 } },
  { query: { per_page: 0 }, offset: 0, limit: 0, shown: { current_page: 1, per_page: 0 } },
  { query: { page: 9, per_page: 0 }, offset: 0, limit: 0, shown: { current_page: 9, per_page: 0 } },
  { query: { per_page: 100 }, offset: 0, limit: 100, shown: { current_page: 1, per_page: 100 } },
  { query: { page: 2, per_page: 101 }, offset: 100, limit: 100, shown: { current_page: 2, per_page: 100 } },
  {
    query: { page: 2_147_483_647, per_page: 100 },
    offset: 214_748_364_600,
    limit: 100,
    shown: { current_page: 2_147_483_647, per_page: 100 },
  },
])('$query is served as $shown', ({ query, offset, limit, shown }) => {
  const page = toPage(query)
  expect({ offset: page.offset, limit: page.limit }).toEqual({ offset, limit })
  expect(page.describe(42)).toEqual({ ...shown, total_items: 42 })
})
