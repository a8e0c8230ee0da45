import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDatabase } from '../../../src/database/engines/embedded/make-database.ts'
import { openPGlite } from '../../../src/database/engines/embedded/pglite.ts'
import { migrate } from '../../../src/database/migrate.ts'

let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'relayer-made-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

test('a database that was made for new folders is migrated, unused, and the only one of its folder', async () => {
  await makeDatabase(dataDir)
  const database = await openPGlite({ dataDir, durability: 'full' })
  try {
    expect(await migrate(database)).toEqual([])
    const databases = await sql<{ datname: string }>`select datname from pg_database`.execute(database.db)
    expect(databases.rows).toEqual([{ datname: 'postgres' }])
    expect(await database.db.selectFrom('relayers').selectAll().execute()).toEqual([])
    expect(await database.db.selectFrom('events').selectAll().execute()).toEqual([])
  } finally {
    await database.close()
  }
})
