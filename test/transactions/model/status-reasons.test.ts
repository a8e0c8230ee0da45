import { describe, expect, test } from 'vitest'
import {
  afterCause,
  afterInclusion,
  fallBackIn,
  fallBackReason,
  type NoopCause,
  noopIncludedReason,
  noopReason,
  noopReasonIn,
  withoutWaiting,
} from '../../../src/transactions/model/status-reasons.ts'

/** Every sentence about a no-op: the cause, the words of the node, what is said before a block includes it, and after. */
const NOOPS: readonly (readonly [NoopCause, string, string, string])[] = [
  [
    'canceled',
    '',
    'Canceled by the caller; a no-op will use its nonce.',
    'Canceled by the caller; a no-op used its nonce.',
  ],
  [
    'expired',
    '',
    'valid_until passed; a no-op will use its nonce.',
    'valid_until passed; a no-op used its nonce.',
  ],
  [
    'blocking',
    '',
    'It blocked the account for a day, and no block included it; a no-op will use its nonce.',
    'It blocked the account for a day, and no block included it; a no-op used its nonce.',
  ],
  [
    'refused',
    'exceeds block gas limit',
    'The node refused it permanently (exceeds block gas limit); a no-op will use its nonce.',
    'The node refused it permanently (exceeds block gas limit); a no-op used its nonce.',
  ],
  [
    'priced_out',
    'fee too low',
    'No endpoint accepted the price set by its caller, and others waited behind it (fee too low); a no-op will use its nonce.',
    'No endpoint accepted the price set by its caller, and others waited behind it (fee too low); a no-op used its nonce.',
  ],
  [
    'unprepared',
    'It would revert.',
    'It would revert; a no-op will use its nonce.',
    'It would revert; a no-op used its nonce.',
  ],
]

describe('the sentence about a no-op', () => {
  test.each(NOOPS)('%s is in the tense of the status', (cause, detail, before, after) => {
    expect(noopReason(cause, detail)).toBe(before)
    expect(noopIncludedReason(cause, detail)).toBe(after)
    expect(afterInclusion(before)).toBe(after)
    expect(afterInclusion(after)).toBe(after)
  })

  test.each(NOOPS)('%s stays in front of what happens to the no-op', (_cause, _detail, before, after) => {
    for (const statusReason of [before, after]) {
      const reason = afterCause({ purpose: 'abandon', statusReason }, 'No node answers.')
      expect(reason).toBe(`${before} No node answers.`)
      expect(afterCause({ purpose: 'abandon', statusReason: reason }, 'Later.')).toBe(`${before} Later.`)
      expect(noopReasonIn(reason)).toBe(before)
    }
    // The caller has replaced the content, so the no-op is not wanted any more.
    expect(afterCause({ purpose: 'request', statusReason: before }, 'Later.')).toBe('Later.')
  })

  test('says that a node gave no reason', () => {
    expect(noopReason('refused')).toBe(
      'The node refused it permanently (no reason given); a no-op will use its nonce.',
    )
  })
})

describe('the sentence about an earlier attempt that counts again', () => {
  const sentence = fallBackReason(2, 'too (very) dear', 1)

  test('stays in front of what follows, and is found there', () => {
    expect(sentence).toBe('Attempt 2 was refused by the node (too (very) dear); attempt 1 still counts.')
    const refused = { purpose: 'request', statusReason: sentence } as const
    expect(fallBackIn(afterCause(refused, 'No node answers.'))).toBe(sentence)
    expect(withoutWaiting(`${sentence} Waiting for inclusion; no new block`)).toBe(sentence)
  })

  test('says after its inclusion which attempt was included', () => {
    expect(afterInclusion(sentence)).toBe(
      'Attempt 2 was refused by the node (too (very) dear); attempt 1 was included.',
    )
  })
})
