import { loadConfig } from '../config/load.ts'
import { openDatabase } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { createLogger } from '../log.ts'
import { type Command, EXIT } from './command.ts'

/** `relayer migrate`. */
export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the tables of the database up to date.',
  usage: '',
  help: [
    'serve does the same at each start; this is for deployments that do it beforehand. Works on the PostgreSQL of',
    'DATABASE_URL, or on the embedded database in DATA_DIR (default ./data) while no service runs on it.',
  ],
  options: [],
  maxPositionals: 0,
  async run(_args, terminal) {
    const config = loadConfig()
    const database = await openDatabase(config.database, createLogger({ level: config.logLevel }))
    try {
      const applied = await migrate(database)
      terminal.out(applied.length > 0 ? `applied: ${applied.join(', ')}` : 'the tables are up to date')
      return EXIT.ok
    } finally {
      await database.close()
    }
  },
}
