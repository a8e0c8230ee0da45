import { sql } from 'kysely'
import type { Tx } from '../database/db.ts'

/** The kinds of lists in the configuration file. */
export type EntryKind = 'relayer' | 'notification' | 'signer' | 'plugin'

/** Reads the fingerprint of each entry as it was last applied, by id. */
export async function readEntries(tx: Tx, kind: EntryKind): Promise<Map<string, string>> {
  const rows = await tx.selectFrom('file_entries').selectAll().where('kind', '=', kind).execute()
  return new Map(rows.map(({ id, fingerprint }) => [id, fingerprint]))
}

/** Replaces all entries of this kind. */
export async function writeEntries(
  tx: Tx,
  kind: EntryKind,
  entries: ReadonlyMap<string, string>,
): Promise<void> {
  await tx.deleteFrom('file_entries').where('kind', '=', kind).execute()
  if (entries.size === 0) return
  // Arrays, because a statement has a limited number of parameters, and the engine needs about 1 kB for each
  // of them.
  await sql`
    insert into file_entries (kind, id, fingerprint)
    select ${kind}, * from unnest(${[...entries.keys()]}::text[], ${[...entries.values()]}::text[])`.execute(
    tx,
  )
}
