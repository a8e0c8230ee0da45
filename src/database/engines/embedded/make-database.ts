import { sql } from 'kysely'
import { migrate } from '../../migrate.ts'
import { openPGlite } from './pglite.ts'
import { startEngineHere } from './start-engine.ts'

/**
 * The engine makes them for `create database`, which the service never calls. Each has 300 files, as many as
 * the database itself.
 */
const TEMPLATES = ['template0', 'template1']

/**
 * Makes the folder `pglite` of an empty data folder: an unused database with the newest migration. The engine
 * runs in this thread, where the build decides about the time and the random bytes that it stores.
 */
export async function makeDatabase(dataDir: string): Promise<void> {
  const database = await openPGlite({ dataDir, durability: 'relaxed', startEngine: startEngineHere })
  try {
    await migrate(database)
    await sql`update pg_database set datistemplate = false`.execute(database.db)
    for (const name of TEMPLATES) await sql`drop database if exists ${sql.ref(name)}`.execute(database.db)
  } finally {
    await database.close()
  }
}
