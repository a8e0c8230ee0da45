import type { Attempt } from '../../chains/attempt.ts'

/** The fields that attempts on every kind of network show. */
export function presentCommonAttempt(attempt: Attempt) {
  return {
    number: attempt.number,
    kind: attempt.kind,
    outcome: attempt.outcome,
    hash: attempt.signed.hash,
    signed_at: attempt.signedAt.toISOString(),
    broadcast_at: attempt.broadcastAt?.toISOString(),
    error: attempt.error,
  }
}

/**
 * The number that an attempt takes.
 * @throws Error when it has none, which only attempts on a chain without nonces may lack
 */
export function requireNonce({ number, nonce }: Attempt): bigint {
  if (nonce === undefined) throw new Error(`attempt ${number} has no nonce`)
  return nonce
}
