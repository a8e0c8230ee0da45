import { type Kysely, sql } from 'kysely'
import type { OwnTransaction } from '../../chains/capabilities.ts'
import type { Schema } from '../../database/schema.ts'
import { findHashOwners } from './attempts-store.ts'

type Db = Kysely<Schema>

/** Returns the hashes that no attempt has. */
export async function withoutAttempt(db: Db, hashes: readonly string[]): Promise<string[]> {
  const owners = await findHashOwners(db, hashes)
  return hashes.filter((hash) => !owners.has(hash))
}

/** Returns those that the service has not signed for a caller to broadcast: the audit log has the digest of each of these. */
export async function notSignedForCallers(db: Db, own: readonly OwnTransaction[]): Promise<OwnTransaction[]> {
  if (own.length === 0) return []
  const digests = own.map(({ sha256 }) => sha256)
  const { rows } = await sql<{ sha256: string }>`
    select after->>'sha256' as sha256 from audit_log
    where action = 'signTransaction' and after->>'sha256' = any(${digests}::text[])`.execute(db)
  const signed = new Set(rows.map(({ sha256 }) => sha256))
  return own.filter(({ sha256 }) => !signed.has(sha256))
}
