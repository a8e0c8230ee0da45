import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { acquireLease, type Lease, LeaseLostError, releaseLease } from '../database/lease.ts'
import type { Schema } from '../database/schema.ts'
import { lastNumber } from '../events/number-store.ts'
import type { Clock } from '../lib/time/clock.ts'
import { fanOutEvents } from '../notifications/delivery/fan-out-store.ts'
import type { JobQueue } from '../notifications/delivery/job-queue.ts'
import { redeliver } from '../notifications/delivery/redeliver-store.ts'
import { activeNotifications, hasNotifications } from '../notifications/store.ts'
import { createLoop, type Loop } from './loop.ts'

/** Time in ms that the lease lasts. */
const LEASE_MS = 10_000

/** The longest delay in ms of an event whose notification was lost. */
const BACKSTOP_MS = 1_000

/** Time in ms for which events are collected, so that fewer database transactions are needed. The delay is not noticeable. */
const GATHER_MS = 50

interface FanOutWorkerDeps {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly log: Logger
  readonly queue: JobQueue
  /** Identifies this process in leases. */
  readonly owner: string
  /** Time in ms for which a delivery is tried. */
  readonly windowMs: number
}

/** The number of late deliveries of one notification that one look makes due. */
const MAX_LATE = 1_000

/** Time in ms between two looks for late deliveries. */
const LATE_MS = 30_000

/** Turns events into deliveries, and makes late ones due, in one process at a time. */
export function createFanOutWorker(deps: FanOutWorkerDeps): Loop {
  const { db, clock, log, owner } = deps
  const stopping = new AbortController()
  let lease: Lease | undefined
  let renewAt = 0
  let lateAt = 0

  async function hold(): Promise<Lease | undefined> {
    if (clock.monotonic() < renewAt) return lease
    lease = await acquireLease(db, { name: 'relay', owner, ttlMs: LEASE_MS })
    renewAt = lease === undefined ? 0 : clock.monotonic() + LEASE_MS / 2
    return lease
  }

  async function redeliverLate(): Promise<void> {
    if (clock.monotonic() < lateAt) return
    lateAt = clock.monotonic() + LATE_MS
    for (const { id } of await activeNotifications(db)) {
      const late = {
        notificationId: id,
        selection: { kind: 'late' },
        limit: MAX_LATE,
        windowMs: deps.windowMs,
      } as const
      const redelivered = await redeliver(deps, late)
      if (redelivered > 0)
        log.warn(
          { notification: id, deliveries: redelivered },
          'deliveries of a clock that was ahead are due now',
        )
    }
  }

  async function fanOutAll(current: Lease): Promise<void> {
    await clock.sleep(GATHER_MS, stopping.signal)
    await lastNumber(db)
    while ((await fanOutEvents(deps, current)).more) if ((await hold()) === undefined) return
  }

  const loop = createLoop({
    name: 'relay',
    intervalMs: BACKSTOP_MS,
    clock,
    log,
    work: async () => {
      if (!(await hasNotifications(db))) return
      const current = await hold()
      if (current === undefined) return
      try {
        await fanOutAll(current)
        await redeliverLate()
      } catch (error) {
        if (!(error instanceof LeaseLostError)) throw error
        // Another process has the lease now, and relays the rest.
        renewAt = 0
      }
    },
  })
  return {
    ...loop,
    stop: async () => {
      stopping.abort()
      await loop.stop()
      if (lease !== undefined) await releaseLease(db, lease)
    },
  }
}
