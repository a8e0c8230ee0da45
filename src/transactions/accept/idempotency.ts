import type { Kysely } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import { AppError } from '../../errors.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { findKeys, type KeyRecord } from '../store/idempotency-store.ts'
import { findTransaction } from '../store/transactions-store.ts'

/** The caller's own name for a request, and what tells its body from others. */
export type IdempotencyKey = Pick<KeyRecord, 'key' | 'fingerprint'>

/**
 * The transaction that this claim has made, as it is now; undefined when it has made none.
 * @throws AppError 409 `idempotency_key_reused` when the key was used with another body
 */
export async function findByIdempotencyKey(
  db: Kysely<Schema>,
  relayerId: string,
  idempotencyKey: IdempotencyKey,
): Promise<TransactionWithAttempts | undefined> {
  const earlier = (await findKeys(db, relayerId, [idempotencyKey.key])).get(idempotencyKey.key)
  if (earlier === undefined) return undefined
  const refusal = keyReuseError(earlier, idempotencyKey)
  if (refusal) throw refusal
  return findTransaction(db, relayerId, earlier.transactionId)
}

/** Why this claim is none to the transaction of an earlier one with its key, or nothing. Pure. */
export function keyReuseError(earlier: KeyRecord, { fingerprint }: IdempotencyKey): AppError | undefined {
  if (earlier.fingerprint === fingerprint) return undefined
  return new AppError(
    'idempotency_key_reused',
    `Idempotency-Key: this key was used for a request with another body, which made transaction ${earlier.transactionId}.`,
  )
}
