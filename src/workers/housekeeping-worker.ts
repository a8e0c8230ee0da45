import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { acquireLease } from '../database/lease.ts'
import type { Schema } from '../database/schema.ts'
import { deleteOldEvents } from '../events/retention-store.ts'
import type { Clock } from '../lib/time/clock.ts'
import { createLoop, type Loop } from './loop.ts'

/** Time in ms between two cleanups. */
const INTERVAL_MS = 3_600_000

/** Time in ms after a cleanup during which no other process starts one. */
const LEASE_MS = INTERVAL_MS / 2

/** Time in ms between two rounds. It is short, because readiness treats a minute without a round as a fault. */
const ROUND_MS = 30_000

interface HousekeepingDeps {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly log: Logger
  /** Identifies this process in leases. */
  readonly owner: string
  /** Time in ms for which events are kept. */
  readonly retentionMs: number
}

/** Deletes events that are older than their retention time, in one process at a time. */
export function createHousekeepingWorker({ db, clock, log, owner, retentionMs }: HousekeepingDeps): Loop {
  let dueAt = 0
  return createLoop({
    name: 'housekeeping',
    intervalMs: ROUND_MS,
    clock,
    log,
    work: async () => {
      if (clock.monotonic() < dueAt) return
      dueAt = clock.monotonic() + INTERVAL_MS
      if ((await acquireLease(db, { name: 'housekeeping', owner, ttlMs: LEASE_MS })) === undefined) return
      const before = new Date(clock.now() - retentionMs)
      const total = await deleteOldEvents(db, before)
      if (total > 0) log.info({ events: total, before }, 'events deleted after their retention time')
    },
  })
}
