import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import type { Database } from '../../src/database/engine.ts'
import { migrate } from '../../src/database/migrate.ts'
import { nextEvents } from '../../src/events/read.ts'
import { createLogger } from '../../src/log.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'

const log = createLogger({ level: 'silent' })

let postgres: PostgresServer
let one: Database
let other: Database

beforeAll(async () => {
  postgres = await startPostgres()
  const url = await postgres.createDatabase()
  const open = () => openDatabase({ url, dataDir: 'unused' }, log)
  ;[one, other] = [await open(), await open()]
  await migrate(one)
}, 60_000)
afterAll(async () => {
  await one.close()
  await other.close()
  await postgres.stop()
})

const event = (transactionId: string) => ({
  relayer_id: 'r',
  transaction_id: transactionId,
  type: 'transaction_update',
  payload: '{}',
})

/** Everything after a cursor, a few at a time, as a reader with a cursor would. */
async function readOn({ db }: Database, after: bigint, limit = 7) {
  const seen: { number: bigint; transactionId: string | undefined }[] = []
  for (let cursor = after; ; ) {
    const page = await nextEvents(db, { after: cursor, limit })
    if (page.length === 0) return seen
    seen.push(...page.map(({ number, transactionId }) => ({ number, transactionId })))
    cursor = page.at(-1)?.number ?? cursor
  }
}

test('an event that was written early and committed late is not missed by a reader that was there in between', async () => {
  const committed = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const late = one.db.transaction().execute(async (tx) => {
    await tx.insertInto('events').values(event('late')).execute()
    written.resolve()
    await committed.promise
  })
  await written.promise
  await other.db.insertInto('events').values(event('early')).execute()
  const first = await readOn(other, 0n)
  expect(first).toEqual([{ number: 1n, transactionId: 'early' }])
  committed.resolve()
  await late
  expect(await readOn(other, 1n)).toEqual([{ number: 2n, transactionId: 'late' }])
})

test('two writers and two readers at once: each reader sees everything once, without gaps, in the same order', async () => {
  const start = (await readOn(one, 0n)).at(-1)?.number ?? 0n
  const perWriter = 150
  const write = async ({ db }: Database, name: string) => {
    await Promise.all(
      Array.from({ length: perWriter }, (_, index) =>
        db.transaction().execute(async (tx) => {
          await tx
            .insertInto('events')
            .values([event(`${name}-${index}`), event(`${name}-${index}`)])
            .execute()
          // Commits out of the order of their ids.
          await tx
            .selectFrom('event_log')
            .select((eb) => eb.fn('pg_sleep', [eb.val(Math.random() / 50)]).as('slept'))
            .execute()
        }),
      ),
    )
  }
  let writing = true
  const follow = async (database: Database) => {
    const seen: { number: bigint; transactionId: string | undefined }[] = []
    for (;;) {
      const done = !writing
      seen.push(...(await readOn(database, seen.at(-1)?.number ?? start)))
      if (done) return seen
    }
  }
  const readers = [follow(one), follow(other)]
  await Promise.all([write(one, 'a'), write(other, 'b')])
  writing = false
  const [first = [], second = []] = await Promise.all(readers)
  expect(first.map(({ number }) => number)).toEqual(
    Array.from({ length: perWriter * 4 }, (_, index) => start + 1n + BigInt(index)),
  )
  expect(second).toEqual(first)
})
