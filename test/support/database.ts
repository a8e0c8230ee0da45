import { rm } from 'node:fs/promises'
import { sql } from 'kysely'
import { openDatabase } from '../../src/database/database.ts'
import type { Database } from '../../src/database/db.ts'
import { startEngineHere } from '../../src/database/engines/embedded/start-engine.ts'
import { migrate } from '../../src/database/migrate.ts'
import { createLogger } from '../../src/log.ts'
import { createDataDir } from './data-dir.ts'

/** A migrated embedded database, gone when it is closed. In mutation tests, which run many times, it is the same one each time, and empty. */
export async function openTestDatabase(): Promise<Database> {
  if (process.env.SHARE_TEST_DATABASE !== '1') return openFresh()
  const store = globalThis as { sharedTestDatabase?: Promise<Database> }
  store.sharedTestDatabase ??= openFresh()
  const database = await store.sharedTestDatabase
  await emptyDatabase(database)
  return { ...database, close: async () => {} }
}

async function openFresh(): Promise<Database> {
  const dataDir = await createDataDir()
  // A clock that a test moves stands still while the engine works in this thread, and no test sees a state in between.
  const database = await openDatabase(
    { dataDir, startEngine: startEngineHere },
    createLogger({ level: 'silent' }),
  )
  await migrate(database)
  return {
    ...database,
    close: async () => {
      await database.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const TABLES = [
  'rate_limits',
  'api_key_uses',
  'api_key_secrets',
  'api_keys',
  'relayers',
  'notifications',
  'accounts',
  'transactions',
  'attempts',
  'events',
  'alerts',
  'watched_states',
  'leases',
  'finished_counts',
  'deliveries',
  'notification_keys',
  'idempotency_keys',
  'signers',
  'network_urls',
  'network_private_urls',
  'operated_accounts',
  'file_entries',
  'operator_decisions',
  'spenders',
  'spendings',
  'spent',
  'top_ups',
]

/** Removes every row but those of the audit log, which nobody can delete, for tests that share a database. */
export async function emptyDatabase({ db }: Database): Promise<void> {
  // In one statement, because they refer to each other. To truncate would give each table a new file.
  const deletions = TABLES.map((name) => sql`${sql.ref(`no_${name}`)} as (delete from ${sql.table(name)})`)
  await sql`with ${sql.join(deletions)} select`.execute(db)
}
