import { setTimeout as pause } from 'node:timers/promises'
import { type Selectable, sql } from 'kysely'
import { ALL_RELAYERS, seesEverything } from '../access/principal.ts'
import { ofVisibleRelayer } from '../access/visibility-store.ts'
import type { Db, Tx } from '../database/db.ts'
import type { EventsTable } from '../database/tables/events.ts'
import { smaller } from '../lib/bigint.ts'
import type { EventFilter, EventRecord, EventType, LoggedEvent } from './event.ts'

/** The channel on which the database announces committed events. */
export const EVENTS_CHANNEL = 'events_written'

/** The columns of an `EventRecord`. */
export const EVENT_COLUMNS = [
  'uid',
  'number',
  'type',
  'relayer_id',
  'transaction_id',
  'notification_id',
  'created_at',
] as const

/**
 * A page ends with the event that makes it exceed this many bytes. Events repeat the content of their
 * transaction, so a hundred events of large transactions would otherwise be a hundred times as large as a
 * request.
 */
export const PAGE_BYTES = 262_144

interface ReadOptions extends EventFilter {
  /** The number of the last event that the reader has; 0 for none. */
  readonly after: bigint
  /** The number of the last event that may be read. */
  readonly upTo: bigint
  readonly limit: number
}

/** The number of bytes of an event. One without its own content shows that of its transaction. */
const SIZE = sql<number>`octet_length(payload::text) + coalesce(octet_length(request::text), 0)`
const BYTES = SIZE.as('bytes')

/** The number of bytes that readers get from the rows before a row of a page; null for the first row. */
const BYTES_BEFORE = sql<number | null>`
  sum(${SIZE}) over (order by number rows between unbounded preceding and 1 preceding)`.as('bytes_before')

/** The content that an event of a page shares with its transaction. */
const SHARED_CONTENT = sql<{ request: unknown }>`
  lateral (select request from transactions
    where transactions.id = page.transaction_id and not page.payload ? 'request' limit 1)`.as('shared')

/**
 * Reads events after a cursor, oldest first: at most `limit`, fewer when they are large, and at least one
 * when there is one.
 */
export async function readEvents(db: Db, options: ReadOptions): Promise<LoggedEvent[]> {
  const rows = await db
    .selectFrom(pageOf(db, options))
    .leftJoin('relayers', 'relayers.id', 'page.relayer_id')
    .select(EVENT_COLUMNS.map((column) => `page.${column}` as const))
    .select(['bytes', 'pool_id', 'network_type', 'network'])
    .orderBy('number')
    .execute()
  return rows.map((row) => ({
    ...toEventRecord(row),
    bytes: Number(row.bytes),
    ...(row.pool_id !== null && { poolId: row.pool_id, networkId: `${row.network_type}:${row.network}` }),
  }))
}

/** Reads the number of the newest event but `count`; undefined if there are fewer. */
export async function numberBefore(db: Db, count: number): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('events')
    .select('number')
    .orderBy('number', 'desc')
    .offset(count)
    .limit(1)
    .executeTakeFirst()
  return row?.number
}

/** Selects the rows of a page. */
function pageOf(
  db: Db,
  { after, upTo, limit, relayerId, transactionId, type, visibility = ALL_RELAYERS }: ReadOptions,
) {
  let query = db
    .selectFrom('events')
    .select([...EVENT_COLUMNS, 'payload'])
    .where('number', '>', after)
    .where('number', '<=', upTo)
  if (relayerId !== undefined)
    query = query.where(
      'relayer_id',
      'in',
      db.selectFrom('relayers').select('id').where('pool_id', '=', relayerId),
    )
  if (transactionId !== undefined) query = query.where('transaction_id', '=', transactionId)
  // A literal, because the partial index for rare types applies in every plan only then.
  if (type !== undefined) query = query.where('type', '=', sql.lit(type))
  if (!seesEverything(visibility)) query = query.where(ofVisibleRelayer(visibility, 'events.relayer_id'))
  const page = query.orderBy('number').limit(limit).as('page')
  const sized = db
    .selectFrom(page)
    .leftJoin(SHARED_CONTENT, (join) => join.onTrue())
    .select([...EVENT_COLUMNS, BYTES, BYTES_BEFORE])
    .as('sized')
  return db
    .selectFrom(sized)
    .selectAll()
    .where((eb) => eb.or([eb('bytes_before', 'is', null), eb('bytes_before', '<', PAGE_BYTES)]))
    .as('page')
}

/** Reads the numbers of the oldest and the newest stored event; both are undefined if there is none. */
export async function logBounds(db: Db): Promise<{ first: bigint | undefined; last: bigint | undefined }> {
  const { first, last } = await db
    .selectFrom('events')
    .select((eb) => [
      eb.fn.min<bigint | null>('number').as('first'),
      eb.fn.max<bigint | null>('number').as('last'),
    ])
    .executeTakeFirstOrThrow()
  return { first: first ?? undefined, last: last ?? undefined }
}

/**
 * Stores the event that a relayer was disabled or enabled, with a snapshot of the relayer. Call it after the
 * change, in the same database transaction (I8).
 */
export async function recordRelayerState(tx: Tx, relayerId: string): Promise<void> {
  await sql`
    insert into events (relayer_id, notification_id, type, payload)
    select id, notification_id, 'relayer_state_update', to_jsonb(relayers) from relayers where id = ${relayerId}`.execute(
    tx,
  )
}

/** Stores a test event for a notification and returns its `uid`. */
export async function recordTestEvent(tx: Tx, notificationId: string): Promise<string> {
  const { uid } = await tx
    .insertInto('events')
    .values({ notification_id: notificationId, type: 'notification_test', payload: '{}' })
    .returning('uid')
    .executeTakeFirstOrThrow()
  return uid
}

/** Converts a row to an event record. */
export function toEventRecord(
  row: Pick<Selectable<EventsTable>, (typeof EVENT_COLUMNS)[number]>,
): EventRecord {
  return {
    number: row.number,
    uid: row.uid,
    type: row.type as EventType,
    createdAt: row.created_at,
    ...(row.relayer_id !== null && { relayerId: row.relayer_id }),
    ...(row.transaction_id !== null && { transactionId: row.transaction_id }),
    ...(row.notification_id !== null && { notificationId: row.notification_id }),
  }
}

/**
 * The time in ms between two checks of writers that have not committed yet. Most of them commit within it.
 */
const LOOK_MS = 5

/**
 * A reader waits for writers for at most this time, in ms. A writer that hangs delays the later events of the
 * others, and loses none.
 */
const LONGEST_WAIT_MS = 1_000

/**
 * Returns the highest number up to which no further event will be committed: a reader that sees this number
 * can see every event up to it. It includes all events that were committed before the call, unless a writer
 * hangs.
 *
 * An event gets its number when it is written, and may be committed after one with a higher number. So a
 * writer keeps a lock until its commit, with the last number before its own (`next_event_number` in the
 * schema).
 */
export async function lastNumber(db: Db): Promise<bigint> {
  // The order of the two reads matters: a writer that took a number up to this one, and no longer has a lock,
  // has ended.
  const last = await readLast(db)
  // A step of the clock must not end the wait, nor prolong it.
  const end = performance.now() + LONGEST_WAIT_MS
  for (;;) {
    const settled = await readSettled(db, last)
    if (settled >= last || performance.now() >= end) return settled
    await pause(LOOK_MS)
  }
}

/**
 * Continues the numbers of a log with events at the current time in microseconds. Call it at every start: a
 * restored backup may go unnoticed. Only a million events per second since the last start could reach the
 * current time by counting.
 */
export async function skipIssuedNumbers(db: Db): Promise<void> {
  await sql`select skip_issued_event_numbers()`.execute(db)
}

async function readLast(db: Db): Promise<bigint> {
  const { rows } = await sql<{ last: bigint }>`select last_value as last from event_numbers`.execute(db)
  return rows[0]?.last ?? 0n
}

/** The keys of the locks, as `next_event_number` in the schema has them. */
const LOCK = 1_919_248_499
const KEY_SIZE = 2n ** 31n

/** Returns the lowest number that a writer may still follow, and at most `last`. */
async function readSettled(db: Db, last: bigint): Promise<bigint> {
  const { rows } = await sql<{ key: bigint }>`
    select distinct objid::bigint as key from pg_locks
    where locktype = 'advisory' and classid = ${LOCK}::bigint::oid and pid <> pg_backend_pid()
      and database = (select oid from pg_database where datname = current_database())`.execute(db)
  return rows.map(({ key }) => numberOf(BigInt(key), last)).reduce(smaller, last)
}

/**
 * Returns the number up to `last` that has this key. A writer that began after `last` was read has a key
 * above it, and hides nothing.
 */
function numberOf(key: bigint, last: bigint): bigint {
  const behind = (((last - key) % KEY_SIZE) + KEY_SIZE) % KEY_SIZE
  return behind < KEY_SIZE / 2n ? last - behind : last
}
