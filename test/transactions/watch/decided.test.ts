import { describe, expect, test } from 'vitest'
import type { Attempt } from '../../../src/chains/attempt.ts'
import { PURPOSES, type Purpose, type Transaction } from '../../../src/transactions/model/transaction.ts'
import {
  expired,
  finalEvent,
  nonceUsedElsewhere,
  toFinal,
} from '../../../src/transactions/watch/resolution.ts'
import { reorged } from '../../../src/transactions/watch/resolve.ts'
import { decidedAbsent, decidedIncluded, undecided } from '../../../src/transactions/watch/undecided.ts'
import { itemOf } from '../build.ts'

const NOW = new Date('2030-01-01T00:00:00.000Z')
const SINCE = new Date('2029-01-01T00:00:00.000Z')
const INCIDENT = { undecidedSince: SINCE, stuckSince: SINCE } as const
const OUTCOMES: readonly Attempt['outcome'][] = [
  'signed',
  'broadcast',
  'refused',
  'expired',
  'superseded',
  'mined',
]
const all = OUTCOMES.map((outcome) => ({ outcome }))

const outcomesOf = (outcomes: readonly { readonly number: number; readonly outcome?: string }[]) =>
  outcomes.map(({ number, outcome }) => `${number} ${outcome}`)

const STATUS: Readonly<Record<Purpose, Transaction['status']>> = {
  request: 'pending',
  successor: 'pending',
  cancel: 'canceled',
  expire: 'expired',
  abandon: 'failed',
  gap_filler: 'canceled',
  setup: 'pending',
}

describe('a nonce that another program used', () => {
  test.each(PURPOSES.flatMap((purpose) => [true, false].map((reSignable) => ({ purpose, reSignable }))))(
    'ends or returns $purpose (signed again: $reSignable)',
    ({ purpose, reSignable }) => {
      const item = itemOf(all, { purpose, ...INCIDENT })
      const { transaction, outcomes, freed } = nonceUsedElsewhere(item, { now: NOW, reSignable })
      const returned = STATUS[purpose] === 'pending'
      const status = returned && !reSignable ? 'failed' : STATUS[purpose]
      expect(transaction).toMatchObject({ status, cost: 0n, nextRunAt: NOW, undecidedSince: undefined })
      expect(transaction.statusReason).toBe(
        `Nonce 5 was used by a transaction that did not come from this service; ${
          status !== 'pending'
            ? 'nothing of this one was executed'
            : purpose === 'successor'
              ? 'the new content takes its place'
              : 'it gets a new one'
        }.`,
      )
      const { nonce, sourceAccount, currentAttempt, stuckSince } = transaction
      const before = item.transaction
      expect([nonce, sourceAccount, currentAttempt, stuckSince]).toEqual(
        status === 'pending'
          ? [undefined, undefined, undefined, undefined]
          : [5n, before.sourceAccount, 6, SINCE],
      )
      expect(outcomesOf(outcomes)).toEqual(['1 superseded', '2 superseded'])
      expect(freed).toBeUndefined()
    },
  )
})

describe('a transaction whose attempts have all expired', () => {
  const settle = (
    change: Partial<Transaction>,
    terms: { over?: boolean; reSignable?: boolean; ownsNonce?: boolean } = {},
  ) =>
    expired(itemOf(all, { cost: 9n, ...change }), {
      now: NOW,
      over: false,
      reSignable: true,
      ownsNonce: true,
      ...terms,
    })

  test.each(
    PURPOSES.flatMap((purpose) =>
      [
        { over: false, reSignable: true, ownsNonce: true },
        { over: true, reSignable: true, ownsNonce: true },
        { over: false, reSignable: false, ownsNonce: false },
      ].map((facts) => ({ purpose, ...facts })),
    ),
  )('$purpose (over: $over, to be signed again: $reSignable)', ({ purpose, ...terms }) => {
    const { transaction, outcomes, freed } = settle({ purpose, undecidedSince: SINCE }, terms)
    const isEnded = STATUS[purpose] !== 'pending' || terms.over || !terms.reSignable
    const isReleased = isEnded || purpose === 'successor'
    const status = STATUS[purpose] === 'pending' && isEnded ? 'expired' : STATUS[purpose]
    expect(transaction).toMatchObject({
      status,
      cost: isEnded ? 0n : 9n,
      nextRunAt: NOW,
      undecidedSince: undefined,
    })
    expect([transaction.nonce, transaction.currentAttempt]).toEqual([
      isReleased ? undefined : 5n,
      isEnded ? 6 : undefined,
    ])
    const { relayerId, from } = transaction
    expect(freed).toEqual(isReleased && terms.ownsNonce ? { relayerId, address: from } : undefined)
    expect(outcomesOf(outcomes)).toEqual(['1 expired', '2 expired'])
  })

  test.each<[string, Partial<Transaction>, string]>([
    ['a request', {}, 'It expired without being included; it is signed again.'],
    [
      'a replacement that waited',
      { purpose: 'successor' },
      'The earlier version expired without being included; the new content replaced it.',
    ],
    [
      'a cancellation',
      { purpose: 'cancel' },
      'Canceled by the caller; the chain proved that it was not included.',
    ],
    [
      'what no node took',
      { purpose: 'abandon' },
      'No node accepted it, and the chain proved that it was not included.',
    ],
    [
      'what has a valid_until',
      { purpose: 'expire' },
      'It expired, and the chain proved that it was not included.',
    ],
  ])('says what became of %s', (_name, change, statusReason) => {
    expect(settle(change).transaction.statusReason).toBe(statusReason)
  })

  test('that was stuck gives up its nonce, so that the others can use it', () => {
    const { transaction, freed } = settle({ stuckSince: SINCE })
    expect(transaction).toMatchObject({ status: 'pending', stuckSince: SINCE, cost: 9n })
    expect([transaction.nonce, transaction.sourceAccount]).toEqual([undefined, undefined])
    expect(freed).toEqual({ relayerId: 'relayer', address: transaction.from })
  })

  test('without a source account frees none', () => {
    const change = { sourceAccount: undefined, nonce: undefined, purpose: 'cancel' } as const
    expect(settle(change)).not.toHaveProperty('freed')
  })
})

describe('the final event of an included attempt', () => {
  test.each<[Attempt['kind'] | undefined, Attempt['outcome'] | undefined, string]>([
    ['send', 'mined', 'confirmed'],
    ['replace', 'mined', 'confirmed'],
    ['gap_filler', 'mined', 'confirmed'],
    ['cancel', 'mined', 'canceled'],
    ['expire', 'mined', 'expired'],
    ['abandon', 'mined', 'failed'],
    ['cancel', 'reverted', 'failed'],
    ['send', 'reverted', 'failed'],
    [undefined, undefined, 'confirmed'],
  ])('%s %s: %s', (kind, result, want) => {
    expect(finalEvent(kind, result)).toBe(want)
  })

  test('is that of the attempt that the record shows', () => {
    const mined = { status: 'mined', currentAttempt: 1 } as const
    const item = itemOf([{ outcome: 'mined' }, { kind: 'cancel', outcome: 'reverted' }], mined)
    const { transaction, outcomes } = toFinal(item, NOW)
    expect(transaction).toMatchObject({ status: 'confirmed', confirmedAt: NOW })
    expect(outcomes).toEqual([])
  })
})

describe('a transaction whose inclusion cannot be proved', () => {
  const statusReason =
    'No history. It stays open until an endpoint proves what happened, or an operator decides: relayer tx decide tx'
  const facts = { detail: 'No history.', now: NOW }

  test('is announced when that is new', () => {
    expect(undecided(itemOf(), facts)).toEqual({
      transaction: { ...itemOf().transaction, statusReason, undecidedSince: NOW },
      outcomes: [],
      incident: 'transaction_undecided',
    })
  })

  test('is not announced again when only the words are new, and not written when nothing is', () => {
    const resolution = undecided(itemOf([{}], { undecidedSince: SINCE, statusReason: 'Other.' }), facts)
    expect(resolution).toEqual({
      transaction: { ...itemOf().transaction, statusReason, undecidedSince: SINCE },
      outcomes: [],
    })
    expect(undecided(itemOf([{}], { undecidedSince: SINCE, statusReason }), facts)).toBeUndefined()
    expect(undecided(itemOf([{}], { statusReason }), facts)?.incident).toBe('transaction_undecided')
  })

  const decision = {
    transactionId: 'tx',
    included: true,
    attempt: 2,
    hash: undefined,
    reason: 'seen',
    decidedBy: 'ada',
  }

  test.each<[Attempt['kind'], Transaction['status']]>([
    ['send', 'confirmed'],
    ['cancel', 'canceled'],
  ])('ends as its attempt (%s) asks when an operator says that it was included', (kind, status) => {
    const attempts = all.map((one, index) => (index === 1 ? { ...one, kind } : one))
    const item = itemOf(attempts, { ...INCIDENT, statusReason: 'Undecided.' })
    const { transaction, outcomes } = decidedIncluded(item, { decision, now: NOW })
    expect(transaction).toEqual({
      ...item.transaction,
      status,
      statusReason: 'Attempt 2 was included: operator ada decided this (seen); no endpoint can prove it.',
      currentAttempt: 2,
      confirmedAt: NOW,
      cost: 0n,
      undecidedSince: undefined,
      stuckSince: undefined,
    })
    expect(outcomesOf(outcomes)).toEqual(['1 superseded', '2 mined', '5 superseded', '6 superseded'])
  })

  test('shows the hash that an operator states, and none of its attempts, when it was signed elsewhere', () => {
    const item = itemOf(all, { ...INCIDENT, statusReason: 'Undecided.' })
    const elsewhere = { ...decision, attempt: undefined, hash: '0xelsewhere' }
    const { transaction, outcomes } = decidedIncluded(item, { decision: elsewhere, now: NOW })
    expect(transaction).toMatchObject({
      status: 'confirmed',
      statusReason: 'It was included: operator ada decided this (seen); no endpoint can prove it.',
      statedHash: '0xelsewhere',
      confirmedAt: NOW,
      cost: 0n,
    })
    expect(transaction.currentAttempt).toBeUndefined()
    expect(outcomesOf(outcomes)).toEqual(['1 superseded', '2 superseded', '5 superseded', '6 superseded'])
  })

  test.each<[string | undefined, string]>([
    ['It gets a new nonce.', 'It gets a new nonce. '],
    [undefined, ''],
  ])('is absent, in the words of the operator, after "%s"', (before, start) => {
    const resolution = {
      transaction: { ...itemOf().transaction, undecidedSince: SINCE, statusReason: before },
      outcomes: [],
    }
    expect(decidedAbsent(resolution, decision)).toEqual({
      transaction: {
        ...resolution.transaction,
        undecidedSince: undefined,
        statusReason: `${start}It was not included: operator ada decided this (seen); no endpoint can prove it.`,
      },
      outcomes: [],
    })
  })
})

test('a block that is gone opens every attempt with the same nonce again', () => {
  const attempts = [...all, { outcome: 'superseded', nonce: 4n } as const]
  const block = { number: 9n, hash: '0x9' }
  const item = itemOf(attempts, { status: 'mined', block, cost: 0n })
  const { transaction, outcomes } = reorged(item, { now: NOW, costOf: () => 7n })
  expect(transaction).toMatchObject({
    status: 'submitted',
    statusReason: 'Block 9 that included it is no longer in the chain; the same bytes are broadcast again.',
    block: undefined,
    cost: 7n,
    nextRunAt: NOW,
  })
  expect(outcomesOf(outcomes)).toEqual(['1 broadcast', '2 broadcast', '5 broadcast', '6 broadcast'])
})
