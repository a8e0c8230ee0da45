import { describe, expect, test } from 'vitest'
import type { BroadcastResult } from '../../../src/chains/answer.ts'
import { currentAttempt } from '../../../src/transactions/broadcast/broadcast.ts'
import { settleBroadcast } from '../../../src/transactions/broadcast/settle-broadcast.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { expired, included } from '../../../src/transactions/watch/resolution.ts'
import { reorged } from '../../../src/transactions/watch/resolve.ts'
import { itemOf } from '../build.ts'

const NOW = new Date('2030-01-01T00:00:00.000Z')
const inMs = (ms: number) => new Date(NOW.getTime() + ms)

/** As a chain without nonces, whose content lapses and is offered again every two seconds. */
function settle(result: BroadcastResult, change: Partial<Transaction> = {}) {
  const item = itemOf([{ outcome: 'signed' }], { status: 'sent', ...change })
  const attempt = currentAttempt(item)
  if (!attempt) throw new Error('no current attempt')
  return settleBroadcast({
    item,
    attempt,
    result,
    now: NOW,
    costOf: () => 1n,
    expires: true,
    numbered: false,
    rebroadcastAfterMs: 2_000,
  })
}

describe('what has no nonce', () => {
  test('is broadcast again soon, because no mempool keeps it', () => {
    expect(settle({ kind: 'accepted' }).transaction).toMatchObject({
      status: 'submitted',
      nextRunAt: inMs(2_000),
    })
  })

  test('refused for good, it waits for the proof that no block includes it; nothing is signed in its place', () => {
    const { transaction, outcome } = settle({ kind: 'refused', detail: 'no signature' })
    expect(transaction).toMatchObject({
      status: 'sent',
      purpose: 'abandon',
      statusReason: 'The node refused it for good: no signature',
      nextRunAt: inMs(240_000),
    })
    // Nothing is decided: one node may have taken it all the same.
    expect(outcome).toEqual({ transactionId: 'tx', number: 1, error: 'no signature' })
  })

  test('and is refused for good, keeps what the caller wants instead', () => {
    const { transaction } = settle({ kind: 'refused', detail: 'no signature' }, { purpose: 'cancel' })
    expect(transaction.purpose).toBe('cancel')
  })

  test('fails when that is proved', () => {
    const item = itemOf([{ outcome: 'signed' }], { status: 'sent', purpose: 'abandon' })
    const { transaction } = expired(item, { now: NOW, over: false, reSignable: true, ownsNonce: true })
    expect(transaction).toMatchObject({ status: 'failed', cost: 0n })
  })
})

describe('an expired transaction', () => {
  const item = itemOf([{ outcome: 'expired' }, { outcome: 'broadcast' }], { status: 'submitted' })
  const [, second] = item.attempts

  test('stays so when a later version is included', () => {
    if (!second) throw new Error('no second attempt')
    const receipt = { hash: second.signed.hash, blockNumber: 7n, blockHash: '7', success: true, final: false }
    const { outcomes } = included(item, { attempt: second, receipt, reason: undefined })
    expect(outcomes.map(({ number, outcome }) => [number, outcome])).toEqual([[2, 'mined']])
  })

  test('and when the block of that is dropped', () => {
    const mined = itemOf([{ outcome: 'expired' }, { outcome: 'mined' }], {
      status: 'mined',
      block: { number: 7n, hash: '7' },
    })
    const { outcomes } = reorged(mined, { now: NOW, costOf: () => 1n })
    expect(outcomes.map(({ number, outcome }) => [number, outcome])).toEqual([[2, 'broadcast']])
  })
})
