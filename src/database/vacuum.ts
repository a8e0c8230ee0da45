import { sql } from 'kysely'
import type { Database } from './engine.ts'

/**
 * Makes the room of deleted and replaced rows usable again in the embedded database, which has no autovacuum: its files would grow for
 * ever. A PostgreSQL does it by itself. Other queries get their turn between two tables. Default: all tables.
 */
export async function vacuumEmbedded({ engine, db }: Database, tables?: readonly string[]): Promise<void> {
  if (engine !== 'pglite') return
  for (const table of tables ?? (await db.introspection.getTables()).map(({ name }) => name)) {
    await sql`vacuum ${sql.table(table)}`.execute(db)
  }
}
