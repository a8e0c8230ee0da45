import type { Logger } from 'pino'
import { createDatabaseClock } from '../database/database-clock.ts'
import type { Database } from '../database/db.ts'
import { type Clock, systemClock } from '../lib/time.ts'
import { createLoop, type Loop } from '../workers/loop.ts'

interface ServiceClock {
  readonly clock: Clock
  /** Keep the clock right while the service runs. */
  readonly loops: readonly Loop[]
}

/** Creates the clock of the service: processes that share a database server agree about its time; others have that of the machine. */
export async function createServiceClock({ engine, db }: Database, log: Logger): Promise<ServiceClock> {
  if (engine === 'pglite') return { clock: systemClock, loops: [] }
  const clock = await createDatabaseClock(db, systemClock)
  return { clock, loops: [createClockWorker(clock, log)] }
}

/** A clock that can be synchronised with another one. */
interface MeasuredClock extends Clock {
  measure(): Promise<void>
}

/** Time in ms between two synchronisations. The clocks of machines drift apart by some ms in this time. */
const INTERVAL_MS = 60_000

/** Creates the loop that keeps the clock of the process at the time of the database. */
function createClockWorker(clock: MeasuredClock, log: Logger): Loop {
  return createLoop({ name: 'clock', intervalMs: INTERVAL_MS, clock, log, work: clock.measure })
}
