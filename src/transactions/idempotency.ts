import type { Kysely } from 'kysely'
import type { Schema } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import { findKeys, type KeyRecord } from './idempotency-store.ts'
import { findTransaction } from './store.ts'
import type { TransactionWithAttempts } from './transaction.ts'

/** The caller's own name for a request, and what tells its body from others. */
export type IdempotencyClaim = Pick<KeyRecord, 'key' | 'fingerprint'>

/**
 * The transaction that this claim has made, as it is now; undefined when it has made none.
 * @throws AppError 409 `idempotency_key_reused` when the key was used with another body
 */
export async function findClaimed(
  db: Kysely<Schema>,
  relayerId: string,
  claim: IdempotencyClaim,
): Promise<TransactionWithAttempts | undefined> {
  const earlier = (await findKeys(db, relayerId, [claim.key])).get(claim.key)
  if (earlier === undefined) return undefined
  const refusal = otherBody(earlier, claim)
  if (refusal) throw refusal
  return findTransaction(db, relayerId, earlier.transactionId)
}

/** Why this claim is none to the transaction of an earlier one with its key, or nothing. Pure. */
export function otherBody(earlier: KeyRecord, { fingerprint }: IdempotencyClaim): AppError | undefined {
  if (earlier.fingerprint === fingerprint) return undefined
  return new AppError(
    'idempotency_key_reused',
    `Idempotency-Key: this key was used for a request with another body, which made transaction ${earlier.transactionId}.`,
  )
}
