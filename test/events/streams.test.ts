import type { KyselyPlugin } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ROOT } from '../../src/access/principal.ts'
import type { Streamed, StreamPiece } from '../../src/contract/operations.ts'
import type { Database } from '../../src/database/db.ts'
import { createEventNotifier } from '../../src/events/notifier.ts'
import { recordTestEvent } from '../../src/events/store.ts'
import { createStreamLimit } from '../../src/events/stream-limit.ts'
import { createStreamTickets } from '../../src/events/stream-tickets-store.ts'
import { eventHandlers } from '../../src/handlers/events.ts'
import { createEventPresenter } from '../../src/handlers/present/event.ts'
import type { RequestContext } from '../../src/http/handler.ts'
import { systemClock } from '../../src/lib/time.ts'
import { saveNotification } from '../../src/notifications/store.ts'
import { saveRelayer, setSystemDisabled } from '../../src/relayers/store.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'

const LIMIT = 3
const EVERYTHING = { path: {}, header: {}, query: { after: '0' }, body: undefined }

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})
beforeEach(async () => {
  await emptyDatabase(database)
  await database.db.transaction().execute(async (tx) => {
    await saveNotification(tx, { id: 'ops', type: 'webhook', url: 'https://a', hasSigningKey: false })
    for (let count = 0; count < 5; count += 1) await recordTestEvent(tx, 'ops')
  })
})
afterAll(() => database.close())

/** The operation on a database that counts its queries, and calls `onQuery` before each. */
function streaming(onQuery: () => void = () => {}) {
  const counted = { queries: 0 }
  const plugin: KyselyPlugin = {
    // It is also called for the parts of a query.
    transformQuery: ({ node }) => {
      onQuery()
      return node
    },
    transformResult: async ({ result }) => {
      counted.queries += 1
      return result
    },
  }
  const db = database.db.withPlugin(plugin)
  const { streamEvents } = eventHandlers({
    db,
    clock: systemClock,
    notifier: createEventNotifier(async () => async () => {}),
    presentEvents: createEventPresenter({ db, runtimesOf: async () => new Map() }),
    streams: createStreamLimit(LIMIT),
    tickets: createStreamTickets({ db, clock: systemClock }),
    stopping: new AbortController().signal,
  })
  const open = async (signal: AbortSignal, caller = 'key 0') => {
    const context: RequestContext = {
      requestId: 'r',
      signal,
      headers: {},
      bytes: undefined,
      allow: () => undefined,
      timeLeft: () => 0,
      principal: { ...ROOT, id: caller },
      actor: { keyId: 'root', address: '127.0.0.1', requestId: 'test' },
      mediaType: 'text/event-stream',
      countFurther: () => {},
    }
    const { stream } = await streamEvents(EVERYTHING, context)
    return readGroups(stream)
  }
  return { counted, open }
}

/** Reads each group at once, as the server does while it has memory. */
async function* readGroups(stream: Streamed['stream']): AsyncGenerator<readonly StreamPiece[], void> {
  for await (const group of stream) yield 'read' in group ? await group.read() : group
}

test('a reader that left before the first page costs no query', async () => {
  const { counted, open } = streaming()
  for (let count = 0; count < 50; count += 1) {
    const reader = new AbortController()
    const pages = await open(reader.signal)
    reader.abort()
    expect(await pages.next()).toEqual({ done: true, value: undefined })
  }
  expect(counted.queries).toBe(0)
})

test('a reader that leaves during the first query costs no snapshots', async () => {
  const relayer = {
    id: 'main',
    name: 'Main',
    network: 'anvil',
    networkType: 'evm',
    address: '0x1',
    signerId: 'dev',
  } as const
  await database.db.transaction().execute(async (tx) => {
    await saveRelayer(tx, { ...relayer, paused: false, policies: {} })
    await setSystemDisabled(tx, 'main', { type: 'NonceSyncFailed', details: 'No endpoint answers.' })
  })
  const staying = streaming()
  const page = await (await staying.open(new AbortController().signal)).next()
  expect(page.value).toHaveLength(6)
  const reader = new AbortController()
  const leaving = streaming(() => reader.abort())
  expect(await (await leaving.open(reader.signal)).next()).toEqual({ done: true, value: undefined })
  // The two reads of the last number, the page, and for the reader that stays the relayer of the event.
  expect([leaving.counted.queries, staying.counted.queries]).toEqual([3, 4])
})

test('a key has a limit of streams, and another key has its own', async () => {
  const { open } = streaming()
  const { signal } = new AbortController()
  const pages = [await open(signal), await open(signal), await open(signal)]
  await expect(open(signal)).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 5 })
  await open(signal, 'key 1')
  expect((await pages[0]?.next())?.value).toHaveLength(5)
  await pages[0]?.return?.()
  await open(signal)
})

test('a reader that leaves gives its place back, before, during and after its pages', async () => {
  const { open } = streaming()
  for (let count = 0; count < 2 * LIMIT; count += 1) {
    const before = new AbortController()
    await open(before.signal)
    before.abort()
    const between = new AbortController()
    const pages = await open(between.signal)
    await pages.next()
    between.abort()
    await pages.return?.()
    await open(AbortSignal.abort())
  }
})

test('a stream counts until its work is over', async () => {
  const { open } = streaming()
  const readers = Array.from({ length: LIMIT }, () => new AbortController())
  const first = await Promise.all(readers.map(async ({ signal }) => open(signal)))
  const working = first.map((pages) => pages.next())
  for (const reader of readers) reader.abort()
  await expect(open(new AbortController().signal)).rejects.toMatchObject({ code: 'rate_limited' })
  await Promise.all(working)
  await open(new AbortController().signal)
})
