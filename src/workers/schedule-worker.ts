import { RETRY_MS, type ScheduleRunner } from '../schedules/run.ts'
import { findNextTime } from '../schedules/schedules-store.ts'
import type { TransactionsContext } from '../transactions/model/runtime.ts'
import { createLeaseHolder, createLoop, type Loop } from './loop.ts'

/**
 * Time in ms after which the next time is read again although nothing was announced: a notification can be
 * lost. Nothing else is asked while no schedule is due.
 */
const READ_EVERY_MS = 60_000

/** The longest time in ms between two rounds, which readiness expects. */
const ROUND_MS = 30_000

/** Time in ms that the lease lasts, and after which another process looks whether it has ended. */
const LEASE_MS = 10_000
const STANDBY_MS = 2_000

/** The longest time in ms for which a timer is set too early: times are compared with a clock that may drift. */
const EARLIEST_MS = 10

/** A loop that sleeps until the next time of a schedule. */
interface ScheduleLoop extends Loop {
  /** The next time may have changed: a database notification said so. */
  announced(): void
}

/**
 * Runs schedules when their time comes, mostly in one process at a time: the lease saves the others the work,
 * and the commit of a run is what makes it the only one.
 */
export function createScheduleWorker(context: TransactionsContext, runner: ScheduleRunner): ScheduleLoop {
  const { db, clock, owner, log } = context
  const lease = createLeaseHolder({
    db,
    clock,
    owner,
    name: 'schedules',
    ttlMs: LEASE_MS,
    standbyMs: STANDBY_MS,
  })
  /** Undefined while no schedule is active. */
  let nextAt: Date | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let waitMs = ROUND_MS

  async function read(): Promise<void> {
    readAt = clock.monotonic()
    nextAt = await findNextTime(db)
  }

  const isDue = () => nextAt !== undefined && nextAt.getTime() <= clock.now()

  const loop = createLoop({
    name: 'schedules',
    intervalMs: () => waitMs,
    clock,
    log,
    work: async () => {
      waitMs = ROUND_MS
      if (clock.monotonic() - readAt >= READ_EVERY_MS) await read()
      let waits = false
      if (isDue()) {
        if (!(await lease.hold())) {
          // The next round sees what the other process did.
          readAt = Number.NEGATIVE_INFINITY
          waitMs = STANDBY_MS
          return
        }
        waits = await runner.runDue()
        // Another process may be able to decide what this one cannot.
        if (waits) await lease.release()
        await read()
      }
      if (waits) waitMs = RETRY_MS
      if (nextAt === undefined) return
      const ms = Math.max(EARLIEST_MS, nextAt.getTime() - clock.now())
      if (!waits || !isDue()) waitMs = Math.min(waitMs, ms)
    },
  })
  return {
    ...loop,
    stop: async () => {
      await loop.stop()
      await lease.release()
    },
    announced: () => {
      readAt = Number.NEGATIVE_INFINITY
      loop.wake()
    },
  }
}
