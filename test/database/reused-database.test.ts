import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { appendManagement } from '../../src/audit/append-store.ts'
import { CONFIGURATION } from '../../src/audit/entry.ts'
import type { Database } from '../../src/database/db.ts'
import { openNewDatabase, openTestDatabase } from '../support/database.ts'

/** Every row of every table, and the state of every sequence. */
async function contentOf({ db }: Database): Promise<Record<string, unknown>> {
  const { rows: names } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind in ('r', 'S') and relnamespace = 'public'::regnamespace
    and relname not like 'schema_migrations%' order by relname`.execute(db)
  const content: Record<string, unknown> = {}
  for (const { name } of names) content[name] = (await sql`select * from ${sql.table(name)}`.execute(db)).rows
  return content
}

test('the database that a test leaves is as new for the next one', async () => {
  const created = await openNewDatabase()
  const asNew = await contentOf(created)
  await created.close()
  const used = await openTestDatabase()
  await used.db.transaction().execute((tx) =>
    appendManagement(tx, {
      author: CONFIGURATION,
      action: 'createRelayer',
      target: { type: 'relayer', id: 'one' },
      before: undefined,
      after: { id: 'one' },
    }),
  )
  await sql`select nextval('transactions_position_seq'), nextval('event_numbers')`.execute(used.db)
  await sql`update api_key_changes set version = 7`.execute(used.db)
  expect(await contentOf(used)).not.toEqual(asNew)
  await used.close()
  const next = await openTestDatabase()
  expect(await contentOf(next)).toEqual(asNew)
  await next.close()
})
