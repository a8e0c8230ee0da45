import { createHash } from 'node:crypto'
import { stringifyJson } from '../contract/integers.ts'
import type { IdempotencyClaim } from '../transactions/idempotency.ts'

/**
 * What an `Idempotency-Key` claims: that the body is the same whenever it is used. Nothing without a key. The body has been
 * validated: amounts are bigint however they were spelled.
 */
export function readClaim(key: string | undefined, body: object): IdempotencyClaim | undefined {
  if (key === undefined) return undefined
  const fingerprint = createHash('sha256')
    .update(stringifyJson(sorted(body)))
    .digest('hex')
  return { key, fingerprint }
}

/** The same value with the fields of every object in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, field]) => [name, sorted(field)]),
  )
}
