import type { Logger } from 'pino'
import { createDatabaseClock } from '../database/database-clock.ts'
import type { Database } from '../database/engine.ts'
import { type Clock, systemClock } from '../lib/time/clock.ts'
import { createClockWorker } from '../workers/clock-worker.ts'
import type { Loop } from '../workers/loop.ts'

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
