import type { Db } from '../../database/db.ts'
import { AppError } from '../../errors.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { findKey, type KeyRecord } from '../store/idempotency-store.ts'
import { findTransaction } from '../store/lookups-store.ts'

/** The key that the caller chose for a request, with the caller, and the fingerprint of the body. */
export interface IdempotencyKey extends Omit<KeyRecord, 'transactionId'> {
  /** The place of the key in the request, for errors. Default: the header. */
  readonly field?: string
}

/**
 * Finds the transaction that an earlier request with this key created, in its current state; undefined if there is none.
 * @throws AppError `idempotency_key_reused` if the key was used with another body
 */
export async function findByIdempotencyKey(
  db: Db,
  relayerId: string,
  idempotencyKey: IdempotencyKey,
): Promise<TransactionWithAttempts | undefined> {
  const earlier = await findKey(db, relayerId, idempotencyKey)
  if (earlier === undefined) return undefined
  const refusal = keyReuseError(earlier, idempotencyKey)
  if (refusal) throw refusal
  return findTransaction(db, relayerId, earlier.transactionId)
}

/** Returns an error when the key was used with a different body; otherwise undefined. Pure. */
export function keyReuseError(
  earlier: KeyRecord,
  { fingerprint, field = 'Idempotency-Key' }: IdempotencyKey,
): AppError | undefined {
  if (earlier.fingerprint === fingerprint) return undefined
  return new AppError(
    'idempotency_key_reused',
    `${field}: this key was used for a request with another body, transaction ${earlier.transactionId}.`,
  )
}
