import { type RawBuilder, sql } from 'kysely'
import type { Database, Db } from './db.ts'

/**
 * Sends a notification to all listeners of `channel`. Inside a database transaction it is sent at the commit,
 * and never after a rollback. `payload` has at most 7999 bytes (a limit of PostgreSQL); equal notifications
 * of one transaction are sent once.
 */
export async function notify(db: Db, channel: string, payload = ''): Promise<void> {
  await sql`select pg_notify(${channel}, ${payload})`.execute(db)
}

/**
 * Passes many records as one parameter, as the rows of `record`: a statement has at most 65,535 parameters,
 * and one is planned faster than many. `types` is that of `typesOf`.
 */
export function recordset(records: readonly object[], types: string): RawBuilder<unknown> {
  return sql`jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as record (${sql.raw(types)})`
}

/** Returns the names and the types of columns, as a recordset declares them. */
export function typesOf(columns: Readonly<Record<string, { readonly type: string }>>): string {
  return Object.entries(columns)
    .map(([name, { type }]) => `${name} ${type}`)
    .join(', ')
}

/**
 * Frees the space of deleted and replaced rows in the embedded database, which has no autovacuum: its files
 * would grow forever. A PostgreSQL server does this automatically. Other queries run between two tables.
 * Default: all tables.
 */
export async function vacuumEmbedded({ engine, db }: Database, tables?: readonly string[]): Promise<void> {
  if (engine !== 'pglite') return
  for (const table of tables ?? (await db.introspection.getTables()).map(({ name }) => name)) {
    await sql`vacuum ${sql.table(table)}`.execute(db)
  }
}

/**
 * Makes the text of others storable: U+FFFD replaces zero bytes and lone surrogates, because PostgreSQL
 * refuses the whole statement that contains one. Text that must come back unchanged uses `toExactJson`.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd')
}
