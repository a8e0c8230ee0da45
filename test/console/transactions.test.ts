import { describe, expect, test } from 'vitest'
import type { RelayerEvent } from '../../clients/typescript/src/index.ts'
import { mayChange, readFilter, type TransactionFilter } from '../../console/src/pages/transactions/filter.ts'
import { parseRoute } from '../../console/src/routing/routes.ts'

const RECEIVER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

test.each<[string, TransactionFilter]>([
  ['#/transactions', {}],
  ['#/transactions?status=sent&relayer=main', { status: 'sent', relayer_id: 'main' }],
  [`#/transactions?type=evm&to=${RECEIVER}`, { network_type: 'evm', to: RECEIVER }],
  ['#/transactions?status=gone&type=bitcoin&relayer=&to=', {}],
])('the address %s has its filter', (hash, filter) => {
  expect(readFilter(parseRoute(hash))).toEqual(filter)
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
  ])('of %o changes with an update of a transaction: %s', (filter, changes) => {
    expect(mayChange(filter, event)).toBe(changes)
  })

  test('does not change with another event', () => {
    const payload = { payload_type: 'test', notification_id: 'ops' }
    expect(mayChange({}, { ...event, type: 'notification_test', payload } as RelayerEvent)).toBe(false)
  })
})
