import type { KyselyPlugin } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import type { EventFilter, EventRecord } from '../../src/events/event.ts'
import { createEventLog, nextEvents } from '../../src/events/follow.ts'
import { createEventNotifier } from '../../src/events/notifier.ts'
import { saveRelayer } from '../../src/relayers/store.ts'
import { createAdjustableClock } from '../support/clock.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})
beforeEach(async () => {
  await emptyDatabase(database)
  for (const [id, network] of [
    ['a', 'anvil'],
    ['b', 'anvil'],
    ['c', 'sepolia'],
  ] as const)
    await database.db.transaction().execute(async (tx) => {
      await saveRelayer(tx, {
        id,
        name: id,
        network,
        networkType: 'evm',
        address: `0x${id}`,
        signerId: 'dev',
        paused: false,
        policies: {},
      })
    })
})
afterAll(() => database.close())

/** Writes events of relayers, in this order, and returns their numbers. */
async function write(relayers: readonly (string | null)[], type = 'relayer_state_update'): Promise<bigint[]> {
  const numbers: bigint[] = []
  for (const relayer of relayers) {
    const { number } = await database.db
      .insertInto('events')
      .values({ relayer_id: relayer, type, payload: '{}' })
      .returning('number')
      .executeTakeFirstOrThrow()
    numbers.push(number)
  }
  return numbers
}

/** A log on a database that counts its statements, and whose events the test announces. */
function openLog() {
  const counted = { statements: 0 }
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      counted.statements += 1
      return result
    },
  }
  const handlers = new Set<() => void>()
  const notifier = createEventNotifier(async (handler) => {
    handlers.add(handler)
    return async () => void handlers.delete(handler)
  })
  const clock = createAdjustableClock()
  const log = createEventLog({ db: database.db.withPlugin(plugin), clock, notifier })
  const ends = new AbortController()
  const open = (after: bigint, filter: EventFilter = {}) => {
    const seen: EventRecord[] = []
    const heartbeats = { count: 0 }
    const pages: (readonly EventRecord[])[] = []
    const done = (async () => {
      for await (const page of log.follow({ after, waits: true, signal: ends.signal, ...filter })) {
        if (page.length === 0) heartbeats.count += 1
        else pages.push(page)
        seen.push(...page)
      }
    })()
    const has = (count: number) =>
      until(
        async () => seen.length,
        (length) => length === count,
      )
    return { seen, pages, heartbeats, has, done }
  }
  const announce = () => {
    for (const handler of handlers) handler()
  }
  return { counted, clock, open, announce, end: () => ends.abort() }
}

test('an event costs the same statements with one reader and with many, and all of them get the same array', async () => {
  const statementsWith = async (count: number) => {
    const { counted, open, announce, end } = openLog()
    const [last = 0n] = await write(['a'])
    const readers = Array.from({ length: count }, () => open(last - 1n))
    for (const reader of readers) await reader.has(1)
    const before = counted.statements
    await write(['a', 'b'])
    announce()
    for (const reader of readers) await reader.has(3)
    expect(new Set(readers.map(({ pages }) => pages.at(-1))).size).toBe(1)
    const { statements } = counted
    end()
    await Promise.all(readers.map(({ done }) => done))
    return statements - before
  }
  expect(await statementsWith(200)).toBe(await statementsWith(1))
})

test('readers at rest cost no statement, and each is told that the stream is alive', async () => {
  const { counted, clock, open, end } = openLog()
  const [last = 0n] = await write(['a'])
  const readers = Array.from({ length: 50 }, () => open(last))
  await until(
    async () => counted.statements,
    (statements) => statements > 0,
  )
  await Promise.all(readers.map(async ({ heartbeats }) => expect(heartbeats.count).toBe(0)))
  const before = counted.statements
  clock.advance(15_000)
  await until(async () => readers.every(({ heartbeats }) => heartbeats.count === 1), Boolean)
  // One look at the log for all of them, in case an announcement was lost.
  expect(counted.statements - before).toBeLessThanOrEqual(3)
  end()
  await Promise.all(readers.map(({ done }) => done))
})

const FILTERS: readonly EventFilter[] = [
  {},
  { relayerId: 'a' },
  { relayerId: 'nobody' },
  { type: 'alert' },
  { relayerId: 'b', type: 'alert' },
  { visibility: { relayers: ['a', 'c'] } },
  { visibility: { relayers: ['*'] } },
  { visibility: { relayers: [] } },
  { visibility: { networks: ['evm:sepolia'] } },
  { visibility: { relayers: ['a'], networks: ['evm:sepolia'] } },
  { visibility: { networks: ['evm:anvil'] }, relayerId: 'c' },
]

test('readers with every filter and every cursor get what the database selects, in order', async () => {
  const relayers = Array.from({ length: 250 }, (_, index) => ['a', 'b', 'c', null, 'gone'][index % 5] ?? null)
  const numbers = [...(await write(relayers)), ...(await write(['a', 'b', null], 'alert'))]
  const first = (numbers[0] ?? 0n) - 1n
  const { open, announce, end } = openLog()
  const cursors = [first, numbers[30] ?? 0n, numbers[99] ?? 0n, numbers[100] ?? 0n, numbers[199] ?? 0n]
  const readers = FILTERS.flatMap((filter) =>
    cursors.map((after) => ({ filter, after, reader: open(after, filter) })),
  )
  await write(['a', 'b', 'c'])
  announce()
  for (const { filter, after, reader } of readers) {
    const expected: bigint[] = []
    for (let cursor = after; ; ) {
      const page = await nextEvents(database.db, { ...filter, after: cursor, limit: 100 })
      if (page.length === 0) break
      expected.push(...page.map(({ number }) => number))
      cursor = page.at(-1)?.number ?? cursor
    }
    await reader.has(expected.length)
    expect(reader.seen.map(({ number }) => number)).toEqual(expected)
  }
  end()
  await Promise.all(readers.map(({ reader }) => reader.done))
})

test('a reader of few events that is far behind reads with its filter, and then follows with the others', async () => {
  await database.db
    .insertInto('events')
    .values(
      Array.from({ length: 3_000 }, (_, index) => ({
        relayer_id: index % 1_000 === 0 ? 'a' : 'b',
        type: 'relayer_state_update',
        payload: '{}',
      })),
    )
    .execute()
  const { counted, open, announce, end } = openLog()
  const reader = open(0n, { relayerId: 'a' })
  await reader.has(3)
  expect(counted.statements).toBeLessThan(12)
  await write(['a'])
  announce()
  await reader.has(4)
  end()
  await reader.done
})
