import { fingerprintOf } from '../../lib/fingerprint.ts'
import type { IdempotencyKey } from '../../transactions/accept/idempotency.ts'

/**
 * What an `Idempotency-Key` claims: that the body is the same whenever it is used. Nothing without a key. The body has been
 * validated: amounts are bigint however they were spelled.
 */
export function readIdempotencyKey(key: string | undefined, body: object): IdempotencyKey | undefined {
  return key === undefined ? undefined : { key, fingerprint: fingerprintOf(body) }
}
