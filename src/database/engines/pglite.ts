import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { Kysely, PGliteDialect } from 'kysely'
import type { Database } from '../engine.ts'
import type { Schema } from '../schema.ts'
import { TYPE_PARSERS } from '../types.ts'
import { lockDirectory } from './directory-lock.ts'

const MEMORY = 'memory://'

/**
 * Opens PostgreSQL inside this process. Commits are written to the operating system, so they survive a killed process. The engine has no
 * fsync on Node.js, so a power cut can lose the last commits; use a PostgreSQL server where that matters. There is one connection: a
 * transaction makes every other query wait.
 * @throws DirectoryInUseError when another process has `dataDir` open
 */
export async function openPGlite(dataDir: string): Promise<Database> {
  if (dataDir.startsWith(MEMORY)) return wrap(await create(MEMORY), async () => {})
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const unlock = await lockDirectory(dataDir)
  try {
    return wrap(await create(join(dataDir, 'pglite')), unlock)
  } catch (error) {
    await unlock()
    throw error
  }
}

function create(dataDir: string): Promise<PGlite> {
  return PGlite.create({ dataDir, parsers: { ...TYPE_PARSERS } })
}

function wrap(pglite: PGlite, unlock: () => Promise<void>): Database {
  const db = new Kysely<Schema>({ dialect: new PGliteDialect({ pglite }) })
  let closing: Promise<void> | undefined
  return {
    engine: 'pglite',
    db,
    async listen(channel, handler) {
      // The name is quoted, because the engine converts an unquoted name to lower case and pg_notify does not. The function that `listen`
      // returns omits the quotes, so it is not used.
      const name = `"${channel}"`
      await pglite.listen(name, handler)
      return () => pglite.unlisten(name, handler)
    },
    runScript: (text, values) => runScript(pglite, text, values),
    close() {
      closing ??= shut(db, pglite).finally(unlock)
      return closing
    },
  }
}

/** Runs statements. The engine accepts several only without values, and a failed one can leave its transaction open. */
async function runScript(pglite: PGlite, text: string, values: unknown[] = []) {
  try {
    if (values.length > 0) return await pglite.query<object>(text, values)
    const results = await pglite.exec(text)
    return { rows: results.flatMap(({ rows }) => rows) }
  } catch (error) {
    await pglite.exec('rollback')
    throw error
  }
}

async function shut(db: Kysely<Schema>, pglite: PGlite): Promise<void> {
  await db.destroy()
  // Kysely closes the engine only if it ran a query.
  if (!pglite.closed) await pglite.close()
}
