import { rm } from 'node:fs/promises'
import { sql } from 'kysely'
import { openDatabase } from '../../src/database/database.ts'
import type { Database } from '../../src/database/db.ts'
import { startEngineHere } from '../../src/database/engines/embedded/start-engine.ts'
import { migrate } from '../../src/database/migrate.ts'
import { createLogger } from '../../src/log.ts'
import { createDataDir } from './data-dir.ts'

/**
 * Opens a migrated embedded database that is empty. Databases stay open from one test to the next: to empty one takes a tenth of the time that
 * a new one takes to open.
 */
export async function openTestDatabase(): Promise<Database> {
  const { database, uses } = idle.pop() ?? { database: await openNewDatabase(), uses: 0 }
  let isOpen = true
  return {
    ...database,
    close: async () => {
      if (!isOpen) return
      isOpen = false
      if (uses + 1 >= MAX_USES || idle.length >= MAX_IDLE) return database.close()
      await resetDatabase(database)
      idle.push({ database, uses: uses + 1 })
    },
  }
}

/** Deleted rows stay in the files until the database is vacuumed, which takes as long as a new one. */
const MAX_USES = 20
const MAX_IDLE = 2

interface IdleDatabase {
  readonly database: Database
  readonly uses: number
}

/** Shared by the runs of a mutation test, which load this module again. */
const store = globalThis as { idleTestDatabases?: IdleDatabase[] }
store.idleTestDatabases ??= []
const idle = store.idleTestDatabases

/** Makes a database as it is after its migration. Triggers are off meanwhile, because no one can delete from the audit log. */
async function resetDatabase({ db }: Database): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`rollback`.execute(connection)
    await sql`do $$
      declare
        item record;
      begin
        perform set_config('session_replication_role', 'replica', true);
        for item in
          select relname as name from pg_class
          where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not like 'schema_migrations%' and pg_relation_size(oid) > 0
        loop
          execute format('delete from %I', item.name);
        end loop;
        for item in
          select sequencename as name, start_value from pg_sequences where schemaname = 'public' and sequencename <> 'event_numbers'
        loop
          perform setval(item.name::regclass, item.start_value, false);
        end loop;
        perform setval('event_numbers', 0);
        insert into api_key_changes (id, version) values (1, 0);
        insert into session_changes (id, version) values (1, 0);
      end $$`.execute(connection)
  })
}

/** Opens a migrated embedded database of its own, which answers nothing once it is closed. */
export async function openNewDatabase(): Promise<Database> {
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
  'sessions',
  'people',
  'proposals',
  'relayers',
  'notifications',
  'accounts',
  'transactions',
  'attempts',
  'events',
  'alerts',
  'watched_states',
  'leases',
  'processes',
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
  'sponsored_quotes',
]

/** Removes every row but those of the audit log, which no one can delete, for tests that share a database. */
export async function emptyDatabase({ db }: Database): Promise<void> {
  // In one statement, because they refer to each other. To truncate would give each table a new file.
  const deletions = TABLES.map((name) => sql`${sql.ref(`no_${name}`)} as (delete from ${sql.table(name)})`)
  await sql`with ${sql.join(deletions)} select`.execute(db)
}
