import { describe, expect, test } from 'vitest'
import type { RelayerEvent } from '../../clients/typescript/src/index.ts'
import {
  dayOf,
  isOfRelayer,
  mayChange,
  readFilter,
  type TransactionFilter,
  unitOf,
} from '../../console/src/pages/transactions/filter.ts'
import { parseRoute } from '../../console/src/routing/routes.ts'

const RECEIVER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

test.each<[string, TransactionFilter]>([
  ['#/transactions', {}],
  ['#/transactions?status=sent&relayer=main', { status: 'sent', relayer_id: 'main' }],
  [`#/transactions?type=evm&to=${RECEIVER}`, { network_type: 'evm', to: RECEIVER }],
  ['#/transactions?status=gone&type=bitcoin&relayer=&to=', {}],
  [
    '#/transactions?asset=native&min=5&max=07&reference=invoice-7&key=root&user=user-7',
    { asset: 'native', min_amount: '5', reference: 'invoice-7', requested_by: 'root', user_id: 'user-7' },
  ],
  ['#/transactions?min=5&from=tomorrow&until=2026-13', {}],
])('the address %s has its filter', (hash, filter) => {
  expect(readFilter(parseRoute(hash))).toEqual(filter)
})

test('days begin at midnight of the reader, and the last one counts whole', () => {
  const filter = readFilter(parseRoute('#/transactions?from=2026-11-28&until=2026-11-28'))
  expect(filter).toEqual({
    created_after: new Date(2026, 10, 28).toISOString(),
    created_before: new Date(2026, 10, 29).toISOString(),
  })
  expect(dayOf(new Date(2026, 10, 28, 23, 59))).toBe('2026-11-28')
})

test.each<[TransactionFilter, boolean]>([
  [{ relayer_id: 'main' }, true],
  [{ relayer_id: 'main', status: 'sent' }, true],
  [{ relayer_id: 'main', reference: 'r' }, false],
  [{ status: 'sent' }, false],
])('the list of %o has numbered pages: %s', (filter, has) => {
  expect(isOfRelayer(filter)).toBe(has)
})

describe('the unit of amounts', () => {
  const token = (address: string, decimals: number) => ({ address, symbol: 'USDC', decimals })
  test.each<[string, Parameters<typeof unitOf>[0], string, number]>([
    ['the native currency of a type', { asset: 'native', type: 'solana', tokens: [] }, 'SOL', 9],
    ['the native currency of any type', { asset: 'native', type: undefined, tokens: [] }, 'smallest unit', 0],
    ['a named token', { asset: '0xAA', type: 'evm', tokens: [token('0xaa', 6)] }, 'USDC', 6],
    ['an unnamed token', { asset: '0xbb', type: 'evm', tokens: [token('0xaa', 6)] }, 'smallest unit', 0],
    [
      'a token with other decimals elsewhere',
      { asset: '0xaa', type: undefined, tokens: [token('0xaa', 6), token('0xaa', 18)] },
      'smallest unit',
      0,
    ],
  ])('of %s is certain', (_what, asked, symbol, decimals) => {
    expect(unitOf(asked)).toMatchObject({ symbol, decimals })
  })
})

describe('a list of transactions', () => {
  const event: RelayerEvent = {
    number: '1',
    id: '7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d',
    type: 'transaction_update',
    created_at: '2026-11-20T10:00:00.000Z',
    relayer_id: 'main',
    transaction_id: 'one',
    payload: {
      payload_type: 'transaction',
      id: 'one',
      relayer_id: 'main',
      network_type: 'evm',
      status: 'pending',
      created_at: '2026-11-20T10:00:00.000Z',
      from: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      to: RECEIVER,
      value: '1',
      speed: { level: 'fast', price_multiplier: 1.5, raise_after_seconds: 180 },
    },
  }

  test.each<[TransactionFilter, boolean]>([
    [{}, true],
    [{ relayer_id: 'main' }, true],
    [{ relayer_id: 'other' }, false],
    [{ network_type: 'evm' }, true],
    [{ network_type: 'solana' }, false],
    [{ to: RECEIVER.toLowerCase() }, true],
    [{ to: `0x${'00'.repeat(20)}` }, false],
    [{ status: 'confirmed' }, true],
    [{ asset: 'native' }, false],
    [{ reference: 'invoice-7' }, false],
    [{ user_id: 'user-7' }, true],
  ])('of %o changes with an update of a transaction: %s', (filter, changes) => {
    expect(mayChange(filter, event)).toBe(changes)
  })

  test('does not change with another event', () => {
    const payload = { payload_type: 'test', notification_id: 'ops' }
    expect(mayChange({}, { ...event, type: 'notification_test', payload } as RelayerEvent)).toBe(false)
  })
})
