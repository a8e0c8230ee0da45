import type { Logger } from 'pino'
import type { Database } from '../database/engine.ts'
import { acquireLease } from '../database/lease.ts'
import { vacuumEmbedded } from '../database/vacuum.ts'
import { deleteOldEvents } from '../events/retention-store.ts'
import type { Clock } from '../lib/time/clock.ts'
import { createLoop, type Loop } from './loop.ts'

/** Time in ms between two cleanups. */
const INTERVAL_MS = 3_600_000

/** Time in ms after a cleanup during which no other process starts one. */
const LEASE_MS = INTERVAL_MS / 2

/** Time in ms between two rounds. It is short, because readiness treats a minute without a round as a fault. */
const ROUND_MS = 30_000

/** The tables whose rows are deleted. */
const EMPTIED = ['events', 'deliveries']

/** The number of deleted events after which their room is made usable. More of them would block the embedded database for longer. */
const VACUUM_EVENTS = 20_000

interface HousekeepingDeps {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** Identifies this process in leases. */
  readonly owner: string
  /** Time in ms for which events are kept. */
  readonly retentionMs: number
}

/** Deletes events that are older than their retention time, and vacuums the embedded database, in one process at a time. */
export function createHousekeepingWorker(deps: HousekeepingDeps): Loop {
  const { database, clock, log, owner, retentionMs } = deps
  let dueAt: number | undefined
  return createLoop({
    name: 'housekeeping',
    intervalMs: ROUND_MS,
    clock,
    log,
    work: async () => {
      const isFirst = dueAt === undefined
      if (dueAt !== undefined && clock.monotonic() < dueAt) return
      dueAt = clock.monotonic() + INTERVAL_MS
      if ((await acquireLease(database.db, { name: 'housekeeping', owner, ttlMs: LEASE_MS })) === undefined)
        return
      const before = new Date(clock.now() - retentionMs)
      const vacuum = () => vacuumEmbedded(database, EMPTIED)
      const afterMany = { events: VACUUM_EVENTS, work: vacuum }
      const total = await deleteOldEvents(database.db, { before, afterMany })
      if (total > 0) log.info({ events: total, before }, 'events deleted after their retention time')
      // The first requests after a start do not wait for it.
      if (!isFirst) await vacuumEmbedded(database)
    },
  })
}
