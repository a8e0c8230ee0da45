import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Database } from './db.ts'
import { migrations } from './migrations/index.ts'

const MIGRATION_TABLE = 'schema_migrations'
const LOCK_TABLE = 'schema_migrations_lock'

/** A newer release has migrated the database; this release could damage data. */
export class DatabaseTooNewError extends Error {
  override readonly name = 'DatabaseTooNewError'

  constructor(unknown: readonly string[]) {
    super(`The database is newer than this release: it has ${unknown.join(', ')}. Run the newer release.`)
  }
}

/** The database was made before the first release, by migrations that this program does not have. */
export class DatabaseTooOldError extends Error {
  override readonly name = 'DatabaseTooOldError'

  constructor() {
    super(
      'This database was made by a version before the first release, whose schema no release can read; nothing in it was changed. Start with an empty one (another DATA_DIR or DATABASE_URL), or keep using the version that made it.',
    )
  }
}

/**
 * Applies all pending migrations in one database transaction, and returns their names, oldest first. Several
 * processes may call it at the same time: one works, and the others wait for the lock in the database.
 * @throws DatabaseTooOldError, DatabaseTooNewError; then nothing was changed
 */
export async function migrate(database: Database): Promise<string[]> {
  const applied = await readableMigrations(database)
  // The Migrator reads the whole catalogue before it finds that there is nothing to do, which takes a good
  // part of a start.
  if (Object.keys(migrations).every((name) => applied.has(name))) return []
  const migrator = new Migrator({
    db: database.db,
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableName: MIGRATION_TABLE,
    migrationLockTableName: LOCK_TABLE,
  })
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error) throw error
  return results.map((result) => result.migrationName)
}

/**
 * Finds the names of migrations that the database does not have yet. Changes nothing.
 * @throws DatabaseTooOldError, DatabaseTooNewError
 */
export async function pendingMigrations(database: Database): Promise<string[]> {
  const applied = await readableMigrations(database)
  return Object.keys(migrations).filter((name) => !applied.has(name))
}

/**
 * Reads the names of the migrations that the database has. Every database of a release has the first one.
 * @throws DatabaseTooOldError, DatabaseTooNewError
 */
async function readableMigrations(database: Database): Promise<ReadonlySet<string>> {
  const applied = new Set(await appliedMigrations(database))
  const [first = ''] = Object.keys(migrations)
  if (applied.size > 0 && !applied.has(first)) throw new DatabaseTooOldError()
  const unknown = [...applied].filter((name) => !(name in migrations))
  if (unknown.length > 0) throw new DatabaseTooNewError(unknown)
  return applied
}

async function appliedMigrations({ db }: Database): Promise<string[]> {
  const table = await sql<{
    found: boolean
  }>`select to_regclass(${MIGRATION_TABLE}) is not null as found`.execute(db)
  if (!table.rows[0]?.found) return []
  const { rows } = await sql<{
    name: string
  }>`select name from ${sql.table(MIGRATION_TABLE)} order by name`.execute(db)
  return rows.map((row) => row.name)
}
