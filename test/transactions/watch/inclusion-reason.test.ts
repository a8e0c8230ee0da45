import { describe, expect, test } from 'vitest'
import type { Receipt } from '../../../src/chains/answer.ts'
import type { EvmAttempt } from '../../../src/chains/evm/types.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { inclusionReason } from '../../../src/transactions/watch/inclusion-reason.ts'
import { itemOf } from '../build.ts'

interface Case {
  readonly name: string
  readonly attempts: readonly Partial<EvmAttempt>[]
  readonly transaction?: Partial<Transaction>
  /** The number of the included attempt. Default: the last. */
  readonly included?: number
  readonly reason?: string
  readonly result?: Receipt['result']
  readonly want: string | undefined
}

const STORED = 'The reason that is stored'

const CASES: readonly Case[] = [
  { name: 'the request as it was sent', attempts: [{}], want: undefined },
  {
    name: 'a request, whose stored reason is over',
    attempts: [{}],
    transaction: { statusReason: STORED },
    want: undefined,
  },
  {
    name: 'a revert, with the reason of the chain',
    attempts: [{}],
    reason: 'too late',
    want: 'Reverted on chain: too late.',
  },
  {
    name: 'a cancellation, whose stored reason is true',
    attempts: [{}, { kind: 'cancel' }],
    transaction: { purpose: 'cancel', statusReason: STORED },
    want: STORED,
  },
  {
    name: 'a speed-up of the cancellation',
    attempts: [{}, { kind: 'cancel' }, { kind: 'speed_up' }],
    transaction: { purpose: 'cancel', statusReason: STORED },
    want: STORED,
  },
  {
    name: 'a speed-up of the request whose replacement was refused, without what happened to it afterwards',
    attempts: [{}, { kind: 'replace', outcome: 'refused' }, { kind: 'speed_up' }],
    transaction: {
      statusReason:
        'Attempt 2 was refused by the node (not today); attempt 1 still counts. The node did not answer; the same bytes are broadcast again: time-out',
    },
    want: 'Attempt 2 was refused by the node (not today); attempt 1 still counts.',
  },
  {
    name: 'an expiry no-op that was refused, so that the request is included',
    attempts: [{}, { kind: 'expire', outcome: 'refused' }],
    transaction: { purpose: 'expire', statusReason: STORED },
    included: 1,
    want: undefined,
  },
  {
    name: 'a setup transaction, which is no no-op and keeps its reason',
    attempts: [{}],
    transaction: { purpose: 'setup', statusReason: STORED },
    want: STORED,
  },
  {
    name: 'the request before its replacement',
    attempts: [{}, { kind: 'replace' }],
    included: 1,
    want: 'Attempt 1 was included before its replacement (attempt 2), which has lost.',
  },
  {
    name: 'the request before its replacement, reverted',
    attempts: [{}, { kind: 'replace' }],
    included: 1,
    reason: 'no',
    want: 'Attempt 1 was included before its replacement (attempt 2), which has lost. Reverted on chain: no.',
  },
  {
    name: 'the request before the cancellation',
    attempts: [{}, { kind: 'cancel' }],
    transaction: { purpose: 'cancel', statusReason: STORED },
    included: 1,
    want: 'Attempt 1 was included before its cancellation (attempt 2), which has lost.',
  },
  {
    name: 'the request before the no-op of valid_until',
    attempts: [{}, { kind: 'expire' }],
    transaction: { purpose: 'expire' },
    included: 1,
    want: 'Attempt 1 was included before the no-op that valid_until asked for (attempt 2), which has lost.',
  },
  {
    name: 'the request before its speed-up, which is the same content',
    attempts: [{}, { kind: 'speed_up' }],
    included: 1,
    want: undefined,
  },
  {
    name: 'the request before its replacement, which the node refused',
    attempts: [{}, { kind: 'replace', outcome: 'refused' }],
    included: 1,
    want: undefined,
  },
  {
    name: 'the request before a successor that was never signed',
    attempts: [{}],
    transaction: { purpose: 'successor' },
    want: 'Attempt 1 was included before its replacement, which has lost.',
  },
  {
    name: 'the request before a cancellation that was never signed',
    attempts: [{}],
    transaction: { purpose: 'cancel' },
    want: 'Attempt 1 was included before its cancellation, which has lost.',
  },
  {
    name: 'the bytes of somebody else',
    attempts: [{}],
    result: { appliedHash: '0xother' },
    want: 'A third party sent the same signed content to the network: it was included once, as transaction 0xother.',
  },
  {
    name: 'the bytes of somebody else, who paid',
    attempts: [{}],
    result: { appliedHash: '0xother', feeAccount: 'GPAYER' },
    reason: 'no',
    want: 'A third party sent the same signed content to the network: it was included once, as transaction 0xother, and GPAYER paid the fee. Reverted on chain: no.',
  },
]

describe('the reason of an inclusion', () => {
  test.each(CASES)('$name', ({ attempts, transaction, included = attempts.length, reason, result, want }) => {
    const item = itemOf(attempts, transaction)
    const attempt = item.attempts[included - 1]
    if (attempt === undefined) throw new Error('there is no such attempt')
    const receipt: Receipt = {
      hash: attempt.signed.hash,
      blockNumber: 1n,
      blockHash: '0xblock',
      success: reason === undefined,
      ...(result && { result }),
    }
    expect(inclusionReason(item, { attempt, receipt, reason })).toBe(want)
  })

  test('the own hash of the attempt is nobody else', () => {
    const item = itemOf([{}])
    const [attempt] = item.attempts
    if (attempt === undefined) throw new Error('there is no attempt')
    const { hash } = attempt.signed
    const receipt: Receipt = {
      hash,
      blockNumber: 1n,
      blockHash: '0xblock',
      success: true,
      result: { appliedHash: hash },
    }
    expect(inclusionReason(item, { attempt, receipt, reason: undefined })).toBeUndefined()
  })
})
