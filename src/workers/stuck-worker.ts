import type { TransactionsContext } from '../transactions/model/runtime.ts'
import { type QueueHeads, reportStuck } from '../transactions/watch/stuck.ts'
import { createLeaseHolder } from './lease-holder.ts'
import { createLoop, type Loop } from './loop.ts'

/** Time between two looks at the heads of all queues, in ms. Short against the time after which a head counts as stuck. */
const INTERVAL_MS = 30_000

/** How long one process does this without asking for the lease again, in ms. */
const LEASE_MS = 2 * INTERVAL_MS

/** Announces transactions that hold up their account, in one process at a time. */
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
      if (await lease.ask()) await reportStuck(context, seen)
    },
  })
  return {
    ...loop,
    stop: async () => {
      await loop.stop()
      await lease.giveUp()
    },
  }
}
