import { sql } from 'kysely'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { createLogger } from '../../src/log.ts'

/** A migrated embedded database that keeps nothing. */
export async function openTestDatabase(): Promise<Database> {
  const database = await openDatabase({ dataDir: 'memory://' }, createLogger({ level: 'silent' }))
  await migrate(database)
  return database
}

/** Removes every row, for tests that share a database. */
export async function emptyDatabase({ db }: Database): Promise<void> {
  await sql`truncate relayers, notifications, accounts, transactions, attempts, events, leases, finished_counts, deliveries, notification_keys, idempotency_keys, signers, network_urls, operated_accounts, file_entries`.execute(
    db,
  )
}
