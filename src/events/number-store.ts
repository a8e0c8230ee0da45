import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../database/schema.ts'
import { smaller } from '../lib/bigint.ts'

/** The time in ms between two looks at writers that have not committed yet. Most of them commit within it. */
const LOOK_MS = 5

/** A reader waits for writers for at most this time, in ms. A writer that hangs delays the later events of the others, and loses none. */
const LONGEST_WAIT_MS = 1_000

/**
 * Returns the highest number up to which no event will be committed any more: a reader that sees this number can see every event up to it.
 * It includes all events that were committed before the call, unless a writer hangs.
 *
 * An event gets its number when it is written, and may be committed after one with a higher number. So a writer keeps a lock until its
 * commit, with the last number before its own (`next_event_number` in the schema).
 */
export async function lastNumber(db: Db): Promise<bigint> {
  // The order of the two reads matters: who took a number up to this one, and has no lock any more, has ended.
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
 * Continues the numbers of a log with events at the present time in microseconds. Call it at every start: nobody may know that a database was
 * restored from a backup. A million events in each second since the last start would be needed to reach the present time by counting.
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

/** Returns the number up to `last` that has this key. A writer that began after `last` was read has a key above it, and hides nothing. */
function numberOf(key: bigint, last: bigint): bigint {
  const behind = (((last - key) % KEY_SIZE) + KEY_SIZE) % KEY_SIZE
  return behind < KEY_SIZE / 2n ? last - behind : last
}
