import { sql } from 'kysely'
import { type Clock, createSteadyTime } from '../lib/time.ts'
import type { Db } from './db.ts'

/** A clock that returns the time of a database server. */
export interface DatabaseClock extends Clock {
  /**
   * Reads the server's time. Between two calls the monotonic clock of the process continues it, so they
   * should be at most some minutes apart.
   */
  measure(): Promise<void>
}

/** A slower response does not count, in ms: its time may be late by half of this. */
const LONGEST_ROUND_TRIP_MS = 1_000

/**
 * Creates a clock that processes on different machines agree about, and reads it from the server once. The
 * time of records and of due work comes from it; waits and intervals remain those of `base`.
 */
export async function createDatabaseClock(db: Db, base: Clock): Promise<DatabaseClock> {
  /** The time of the server less the monotonic clock, in ms. */
  let offset = base.now() - base.monotonic()
  const measure = async () => {
    const asked = base.monotonic()
    const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(db)
    const answered = base.monotonic()
    const [row] = rows
    if (row !== undefined && answered - asked <= LONGEST_ROUND_TRIP_MS)
      offset = row.at.getTime() - (asked + answered) / 2
  }
  await measure()
  return {
    now: createSteadyTime({ wall: () => base.monotonic() + offset, monotonic: base.monotonic }),
    monotonic: base.monotonic,
    sleep: base.sleep,
    measure,
  }
}
