import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { Kysely, PGliteDialect } from 'kysely'
import { lockDirectory } from './directory-lock.ts'
import type { Database } from './engine.ts'
import type { Schema } from './schema.ts'
import { TYPE_PARSERS } from './types.ts'

const MEMORY = 'memory://'

/**
 * PostgreSQL inside this process. What is committed has been handed to the operating system, so it survives a killed
 * process; the engine has no fsync on Node, so a power cut can take the last moments with it. Use PostgreSQL where that
 * matters. One connection: a transaction makes every other query wait.
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
      // Quoted, because the engine folds a bare name to lower case and pg_notify does not. The function that the
      // engine gives back forgets the quotes, so we do not use it.
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

/** The engine takes several statements only without values, and a failed one can leave its transaction open. */
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
  // Kysely closes the engine only if it was asked something.
  if (!pglite.closed) await pglite.close()
}
