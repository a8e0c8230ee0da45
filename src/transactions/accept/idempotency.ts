import { AppError } from '../../errors.ts'
import type { KeyRecord } from '../store/idempotency-store.ts'

/** The key that the caller chose for a request, with the caller, and the fingerprint of the body. */
export interface IdempotencyKey extends Omit<KeyRecord, 'transactionId'> {
  /** The place of the key in the request, for errors. Default: the header. */
  readonly field?: string
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
