import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import type { Database } from '../../src/database/db.ts'
import { migrate } from '../../src/database/migrate.ts'
import { nextEvents } from '../../src/events/follow.ts'
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

/** Writes an event and commits it when told. */
async function writeLate({ db }: Database, name: string) {
  const committed = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const done = db.transaction().execute(async (tx) => {
    await tx.insertInto('events').values(event(name)).execute()
    written.resolve()
    await committed.promise
  })
  await written.promise
  return {
    commit: () => {
      committed.resolve()
      return done
    },
    rollBack: async () => {
      committed.reject(new Error('on purpose'))
      await expect(done).rejects.toThrow('on purpose')
    },
  }
}

const namesOf = (seen: readonly { transactionId: string | undefined }[]) =>
  seen.map(({ transactionId }) => transactionId)

test('an event that was written early and committed late is not missed by a reader that was there in between', async () => {
  await one.db.insertInto('events').values(event('before')).execute()
  const late = await writeLate(one, 'late')
  await other.db.insertInto('events').values(event('early')).execute()
  const first = await readOn(other, 0n)
  expect(namesOf(first)).toEqual(['before'])
  await late.commit()
  expect(namesOf(await readOn(other, first[0]?.number ?? 0n))).toEqual(['late', 'early'])
})

test('a reader goes on when a writer gives up', async () => {
  const start = (await readOn(one, 0n)).at(-1)?.number ?? 0n
  const late = await writeLate(one, 'late')
  await other.db.insertInto('events').values(event('early')).execute()
  const reading = readOn(other, start)
  await late.rollBack()
  expect(await reading).toEqual([{ number: start + 2n, transactionId: 'early' }])
})

test('two writers and two readers at the same time: each reader sees everything once, in the same order', async () => {
  const start = (await readOn(one, 0n)).at(-1)?.number ?? 0n
  const perWriter = 150
  const write = async ({ db }: Database, name: string) => {
    await Promise.all(
      Array.from({ length: perWriter }, (_, index) =>
        db
          .transaction()
          .execute(async (tx) => {
            await tx
              .insertInto('events')
              .values([event(`${name}-${index}`), event(`${name}-${index}`)])
              .execute()
            // Commits out of the order of their numbers.
            await sql`select pg_sleep(${Math.random() / 50})`.execute(tx)
            if (index % 5 === 0) throw new Error('on purpose')
          })
          .catch(() => undefined),
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
  const committed = ['a', 'b'].flatMap((name) =>
    Array.from({ length: perWriter }, (_, index) => index).flatMap((index) =>
      index % 5 === 0 ? [] : [`${name}-${index}`, `${name}-${index}`],
    ),
  )
  expect(namesOf(first).toSorted()).toEqual(committed.toSorted())
  const numbers = first.map(({ number }) => number)
  expect(numbers).toEqual(numbers.toSorted((a, b) => Number(a - b)))
  expect(second).toEqual(first)
})
