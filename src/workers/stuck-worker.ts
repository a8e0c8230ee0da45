import type { TransactionsContext } from '../transactions/model/runtime.ts'
import { type QueueHeads, reportStuck } from '../transactions/watch/stuck.ts'
import { createLeaseHolder } from './lease-holder.ts'
import { createLoop, type Loop } from './loop.ts'

/** Time in ms between two checks of all queue heads. It is short against the time after which a head counts as stuck. */
const INTERVAL_MS = 30_000

/** Time in ms that the lease lasts. */
const LEASE_MS = 2 * INTERVAL_MS

/** Announces transactions that block their account, in one process at a time. */
export function createStuckWorker(context: TransactionsContext): Loop {
  const { db, clock, owner, log } = context
  const lease = createLeaseHolder({ db, clock, owner, name: 'stuck', ttlMs: LEASE_MS })
  const seen: QueueHeads = new Map()
  const loop = createLoop({
    name: 'stuck',
    intervalMs: INTERVAL_MS,
    clock,
    log,
    work: async () => {
      if (await lease.hold()) await reportStuck(context, seen)
    },
  })
  return {
    ...loop,
    stop: async () => {
      await loop.stop()
      await lease.release()
    },
  }
}
