import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/types.ts'
import { openDatabase } from '../database/database.ts'
import type { Database } from '../database/db.ts'
import { DirectoryInUseError } from '../database/engines/embedded/directory-lock.ts'
import { migrate } from '../database/migrate.ts'
import { createLogger } from '../log.ts'
import { type Command, EXIT } from './command.ts'

/**
 * By the name of a command: the way to do the same work on the running service that has the embedded
 * database.
 */
const WHILE_IT_RUNS = {
  'change-storage-key': 'A running service can decrypt nothing after the change, so it must be stopped.',
  migrate: 'A service migrates its database when it starts, so the running one has already done it.',
} as const

/** A running service has the data folder. */
class ServiceRunsError extends Error {
  override readonly name = 'ServiceRunsError'
}

/**
 * Opens the database of a configuration for a command.
 * @throws ServiceRunsError, with what to do instead, when another process has the folder of the embedded
 * database
 */
export async function openForCommand(
  config: Pick<Config, 'database' | 'logLevel'>,
  command: keyof typeof WHILE_IT_RUNS,
): Promise<Database> {
  try {
    return await open(config)
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error
    throw new ServiceRunsError(`${error.message}\n${WHILE_IT_RUNS[command]}`)
  }
}

/**
 * Opens it for a command that asks a service instead: undefined if a running one has the folder, and without
 * a configuration.
 */
export async function openUnlessServed(
  config: Pick<Config, 'database' | 'logLevel'> | undefined,
): Promise<Database | undefined> {
  if (config === undefined) return undefined
  try {
    return await open(config)
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error
    return undefined
  }
}

function open({ database, logLevel }: Pick<Config, 'database' | 'logLevel'>): Promise<Database> {
  return openDatabase(database, createLogger({ level: logLevel }))
}

/** `relayer migrate`. */
export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Migrate the database to this release.',
  usage: '',
  help: [
    'serve does the same at each start; use this to migrate separately. Uses the PostgreSQL server of',
    'DATABASE_URL, or on the embedded database in DATA_DIR (default ./data) while no service runs on it.',
  ],
  options: [],
  maxPositionals: 0,
  async run(_args, terminal) {
    const config = loadConfig()
    const database = await openForCommand(config, 'migrate')
    try {
      const applied = await migrate(database)
      terminal.out(applied.length > 0 ? `applied: ${applied.join(', ')}` : 'the tables are up to date')
      return EXIT.ok
    } finally {
      await database.close()
    }
  },
}
