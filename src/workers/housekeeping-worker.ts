import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { acquireLease } from '../database/lease.ts'
import type { Schema } from '../database/schema.ts'
import { deleteOldEvents } from '../events/store.ts'
import type { Clock } from '../lib/clock.ts'
import { createLoop, type Loop } from './loop.ts'

/** Time between two cleanings, in ms. */
const INTERVAL_MS = 3_600_000

/** How long others leave it alone after one, in ms. */
const LEASE_MS = INTERVAL_MS / 2

/** How often the loop shows that it lives, in ms; readiness takes a minute of silence for a fault. */
const ROUND_MS = 30_000

/** Rows deleted in one statement: each holds up the embedded database for as long as it takes. */
const BATCH = 500

interface HousekeepingDeps {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly log: Logger
  /** Identifies this process in leases. */
  readonly owner: string
  /** How long events are kept, in ms. */
  readonly retentionMs: number
}

/** Deletes what is kept no longer, in one process at a time. */
export function createHousekeepingWorker({ db, clock, log, owner, retentionMs }: HousekeepingDeps): Loop {
  let dueAt = 0
  return createLoop({
    name: 'housekeeping',
    intervalMs: ROUND_MS,
    clock,
    log,
    work: async () => {
      if (clock.now() < dueAt) return
      dueAt = clock.now() + INTERVAL_MS
      if ((await acquireLease(db, { name: 'housekeeping', owner, ttlMs: LEASE_MS })) === undefined) return
      const before = new Date(clock.now() - retentionMs)
      let total = 0
      for (let deleted = BATCH; deleted === BATCH; total += deleted) {
        deleted = await deleteOldEvents(db, { before, limit: BATCH })
      }
      if (total > 0) log.info({ events: total, before }, 'old events deleted')
    },
  })
}
