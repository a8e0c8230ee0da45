import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/engine.ts'
import { type StatementQueue, sendInTurn, sendTogether } from '../../src/database/statement-queue.ts'
import type { DatabaseUnderTest } from './conformance.ts'

/** The promises of a queue of statements. Only the embedded engine takes them together. */
export function describeStatementQueue(
  setUp: () => Promise<DatabaseUnderTest>,
  { engine }: Pick<Database, 'engine'>,
): void {
  let underTest: DatabaseUnderTest
  let database: Database

  beforeAll(async () => {
    underTest = await setUp()
    database = await underTest.open()
    await sql`create table noted (id int primary key)`.execute(database.db)
  }, 60_000)
  afterAll(async () => {
    await database.close()
    await underTest.remove()
  })

  const note = (queue: StatementQueue, id: number) => sql`insert into noted values (${id})`.execute(queue)
  const notedIds = async () => {
    const { rows } = await sql<{ id: number }>`select id from noted order by id`.execute(database.db)
    return rows.map(({ id }) => id)
  }

  const WAYS = [
    ['one by one', sendInTurn] as const,
    ...(engine === 'pglite' ? [['together', sendTogether] as const] : []),
  ]

  describe.each(WAYS)('statements of a database transaction that are sent %s', (_, send) => {
    test('are carried out in their order, and their results belong to them', async () => {
      const results = await database.db
        .transaction()
        .execute((tx) =>
          send(tx, (queue) =>
            Promise.all([
              note(queue, 1),
              sql<{ count: bigint }>`select count(*) as count from noted`.execute(queue),
              note(queue, 2),
              sql<{ count: bigint }>`select count(*) as count from noted`.execute(queue),
            ]),
          ),
        )
      expect(results.map(({ rows }) => rows)).toEqual([[], [{ count: 1n }], [], [{ count: 2n }]])
      expect(await notedIds()).toEqual([1, 2])
      await sql`delete from noted`.execute(database.db)
    })

    test('have their answers before an error of the program ends the database transaction', async () => {
      let ended = 0
      const failing = database.db.transaction().execute((tx) =>
        send(tx, (queue) => {
          const notes = [6, 7, 8].map((id) => note(queue, id).finally(() => (ended += 1)))
          const [first = Promise.reject(new Error('nothing was noted'))] = notes
          return Promise.all([
            ...notes,
            first.then(() => {
              throw new Error('unreadable')
            }),
          ])
        }),
      )
      await expect(failing).rejects.toThrow('unreadable')
      expect(ended).toBe(3)
      expect(await notedIds()).toEqual([])
    })

    test('leave nothing behind when one fails, neither before it nor behind it', async () => {
      for (let round = 0; round < 20; round += 1) {
        const failing = database.db
          .transaction()
          .execute((tx) =>
            send(tx, (queue) =>
              Promise.all([note(queue, 3), sql`select 1 / 0`.execute(queue), note(queue, 4), note(queue, 5)]),
            ),
          )
        const after = database.db.transaction().execute(async (tx) => (await sql`select 1`.execute(tx)).rows)
        await expect(failing).rejects.toMatchObject({ code: '22012' })
        expect(await after).toHaveLength(1)
        expect(await notedIds()).toEqual([])
      }
    })
  })
}
