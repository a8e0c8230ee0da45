import { loadConfig } from '../config/load.ts'
import { migrate } from '../database/migrate.ts'
import { type Command, EXIT } from './command.ts'
import { openForCommand } from './open-database.ts'

/** `relayer migrate`. */
export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Migrate the database to this release.',
  usage: '',
  help: [
    'serve does the same at each start; this is for deployments that migrate before it. Uses the PostgreSQL server of',
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
