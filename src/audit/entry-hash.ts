import { createHash } from 'node:crypto'
import { canonicalJson } from '../lib/fingerprint.ts'
import type { AuditEntry } from './entry.ts'
import { entryFields } from './entry-fields.ts'

/** The hash before the first entry of a chain. */
export const FIRST_HASH: Uint8Array = new Uint8Array(32)

/**
 * Gives the hash of an entry: the SHA-256 of the 32 bytes of the previous hash and of the UTF-8 bytes of the entry as canonical JSON (the names
 * of the columns in alphabetical order, no spaces, no fields that are null, `number` in decimal digits, `at` in RFC 3339 with milliseconds).
 * docs/audit.md repeats it, so that others can verify a log.
 */
export function entryHash(previous: Uint8Array, entry: AuditEntry): Uint8Array {
  const text = canonicalJson(entryFields(entry))
  return Uint8Array.from(createHash('sha256').update(previous).update(text).digest())
}
