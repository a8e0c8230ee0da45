import { expireApprovals } from '../transactions/approvals/expire.ts'
import { deleteOldBudgets, settleBudgets } from '../transactions/budgets/settle.ts'
import type { TransactionsContext } from '../transactions/model/runtime.ts'
import { createLeaseHolder } from './lease-holder.ts'
import { createLoop, type Loop } from './loop.ts'

/** Time in ms until what a final transaction did not spend is given back, and until one that waited too long for an approval ends. */
const INTERVAL_MS = 2_000

/** Time in ms that the lease lasts. */
const LEASE_MS = 10_000

/** Time in ms between two deletions of what no period counts any more. */
const DELETE_EVERY_MS = 3_600_000

/** Ends what waited too long for an approval, and gives back what transactions did not spend of their budgets, in one process at a time. */
export function createSpendingWorker(context: TransactionsContext): Loop {
  const { db, clock, owner, log } = context
  const lease = createLeaseHolder({ db, clock, owner, name: 'spending', ttlMs: LEASE_MS })
  let deletedAt = clock.monotonic()
  const loop = createLoop({
    name: 'spending',
    intervalMs: INTERVAL_MS,
    clock,
    log,
    work: async () => {
      if (!(await lease.hold())) return
      await expireApprovals(context)
      await settleBudgets(context)
      if (clock.monotonic() - deletedAt < DELETE_EVERY_MS) return
      deletedAt = clock.monotonic()
      await deleteOldBudgets(context)
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
