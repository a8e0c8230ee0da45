import { MemoryFS } from '@electric-sql/pglite'
import { Kysely, PGliteDialect, sql } from 'kysely'
import { expect, test } from 'vitest'
import { Engine } from '../../../src/database/engines/engine.ts'

test('a transaction that cannot begin fails at once, with the reason', async () => {
  const pglite = new Engine({ fs: new MemoryFS('memory://') })
  const db = new Kysely<object>({ dialect: new PGliteDialect({ pglite }) })
  await sql`select 1`.execute(db)
  await pglite.close()
  const transaction = db.transaction().execute((tx) => sql`select 1`.execute(tx))
  await expect(transaction).rejects.toThrow('PGlite is closed')
})
