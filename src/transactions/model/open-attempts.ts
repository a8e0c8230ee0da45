import type { Attempt, Draft } from '../../chains/attempt.ts'
import { larger } from '../../lib/bigint.ts'

/** Attempts that the chain can still include: a node has, or may have, their bytes, and nothing else took their nonce. */
export function openAttempts(attempts: readonly Attempt[]): Attempt[] {
  return attempts.filter(({ outcome }) => outcome === 'signed' || outcome === 'broadcast')
}

/** Attempts of which nothing is proved: those that are open, and those that one node refused, because another may hold them. */
export function unprovenAttempts(attempts: readonly Attempt[]): Attempt[] {
  return attempts.filter(
    ({ outcome }) => outcome === 'signed' || outcome === 'broadcast' || outcome === 'refused',
  )
}

/**
 * The most that one of these can take from the account, in the smallest unit. Any open attempt can be the one that is included,
 * so the dearest is what must be there.
 */
export function reservation(drafts: readonly Draft[], costOf: (draft: Draft) => bigint): bigint {
  return drafts.map(costOf).reduce(larger, 0n)
}
