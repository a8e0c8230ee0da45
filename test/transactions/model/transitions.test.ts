import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openAttempts, reservation, unprovenAttempts } from '../../../src/transactions/model/attempts.ts'
import { isDue, LONGEST_WAIT_MS, WATCHED_MS } from '../../../src/transactions/model/due.ts'
import type { TransactionStatus } from '../../../src/transactions/model/transaction.ts'
import {
  FINAL_STATUSES,
  isFinal,
  isReplaceable,
  nextStatus,
  type TransactionEvent,
} from '../../../src/transactions/model/transitions.ts'
import { itemOf } from '../build.ts'

const STATUSES = [
  'pending',
  'sent',
  'submitted',
  'mined',
  'confirmed',
  'failed',
  'canceled',
  'expired',
] as const
const EVENTS = [
  'numbered',
  'signed',
  'broadcast',
  'deferred',
  'returned',
  'replaced',
  'included',
  'reorged',
  'confirmed',
  'canceled',
  'expired',
  'failed',
] as const

/** Every legal move, written down a second time; anything else must throw. */
const LEGAL: Readonly<Record<string, TransactionStatus>> = {
  'pending numbered': 'pending',
  'pending deferred': 'pending',
  'pending returned': 'pending',
  'pending replaced': 'pending',
  'pending signed': 'sent',
  'pending included': 'mined',
  'pending canceled': 'canceled',
  'pending expired': 'expired',
  'pending failed': 'failed',
  'sent replaced': 'sent',
  'sent broadcast': 'submitted',
  'sent deferred': 'sent',
  'sent returned': 'pending',
  'sent included': 'mined',
  'sent canceled': 'canceled',
  'sent expired': 'expired',
  'sent failed': 'failed',
  'submitted replaced': 'sent',
  'submitted broadcast': 'submitted',
  'submitted deferred': 'submitted',
  'submitted returned': 'pending',
  'submitted included': 'mined',
  'submitted canceled': 'canceled',
  'submitted expired': 'expired',
  'submitted failed': 'failed',
  'mined included': 'mined',
  'mined reorged': 'submitted',
  'mined confirmed': 'confirmed',
  'mined canceled': 'canceled',
  'mined expired': 'expired',
  'mined failed': 'failed',
}

const move = (status: TransactionStatus, event: TransactionEvent): TransactionStatus | 'illegal' => {
  try {
    return nextStatus(status, event)
  } catch {
    return 'illegal'
  }
}

describe('the table', () => {
  test.each(STATUSES.flatMap((status) => EVENTS.map((event) => ({ status, event }))))(
    '$status, $event',
    ({ status, event }) => {
      expect(move(status, event)).toBe(LEGAL[`${status} ${event}`] ?? 'illegal')
    },
  )

  test.each(STATUSES)('%s can be replaced before a block holds it, and is final at the end', (status) => {
    expect(isReplaceable(status)).toBe(['pending', 'sent', 'submitted'].includes(status))
    expect(isFinal(status)).toBe(['confirmed', 'canceled', 'expired', 'failed'].includes(status))
  })

  test('says in words what was tried', () => {
    expect(() => nextStatus('confirmed', 'reorged')).toThrow('a confirmed transaction cannot be reorged')
  })
})

const walk = fc.array(fc.constantFrom(...EVENTS), { maxLength: 60 })

describe('any walk of events', () => {
  test('stays inside the known statuses', () => {
    fc.assert(
      fc.property(walk, (events) => {
        let status: TransactionStatus = 'pending'
        for (const event of events) {
          const next = move(status, event)
          if (next !== 'illegal') status = next
          expect(STATUSES).toContain(status)
        }
      }),
    )
  })

  test('never leaves a final status', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FINAL_STATUSES), walk, (final, events) =>
        events.every((event) => move(final, event) === 'illegal'),
      ),
    )
  })

  test('says confirmed only out of a block (I7)', () => {
    fc.assert(
      fc.property(walk, (events) => {
        let status: TransactionStatus = 'pending'
        for (const event of events) {
          const before: TransactionStatus = status
          const next = move(status, event)
          if (next !== 'illegal') status = next
          if (status !== before && status === 'confirmed') expect(before).toBe('mined')
        }
      }),
    )
  })
})

const NOW = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000

test.each([
  ['the present moment', 0, true],
  ['a moment later', 1, false],
  ['the longest wait', LONGEST_WAIT_MS, false],
  ['more than the longest wait', LONGEST_WAIT_MS + 1, true],
] as const)('a transaction that runs next at %s is due, or not', (_name, ahead, want) => {
  const createdAt = new Date(NOW - HOUR_MS)
  expect(isDue({ nextRunAt: new Date(NOW + ahead), createdAt, status: 'sent' }, NOW)).toBe(want)
})

test('a pending transaction that has never waited is due, whatever the clock said at its acceptance', () => {
  const at = new Date(NOW + 1_000)
  expect(isDue({ nextRunAt: at, createdAt: at, status: 'pending' }, NOW)).toBe(true)
  expect(isDue({ nextRunAt: at, createdAt: at, status: 'sent' }, NOW)).toBe(false)
})

test('the wait of a watched transaction counts as a wait', () => {
  expect(WATCHED_MS).toBeLessThanOrEqual(LONGEST_WAIT_MS)
})

const OUTCOMES = ['signed', 'broadcast', 'refused', 'mined', 'reverted', 'superseded', 'expired'] as const
const { attempts } = itemOf(OUTCOMES.map((outcome) => ({ outcome })))

test('the chain can still include what was signed or broadcast', () => {
  expect(openAttempts(attempts).map(({ outcome }) => outcome)).toEqual(['signed', 'broadcast'])
})

test('nothing is proved about attempts that were signed, broadcast or refused by one node', () => {
  expect(unprovenAttempts(attempts).map(({ outcome }) => outcome)).toEqual(['signed', 'broadcast', 'refused'])
})

test('the most expensive draft is reserved, and nothing without drafts', () => {
  const drafts = attempts.slice(0, 3).map(({ draft }) => draft)
  const costs = [5n, 9n, 7n]
  expect(reservation(drafts, () => costs.shift() ?? 0n)).toBe(9n)
  expect(reservation([], () => 1n)).toBe(0n)
})
