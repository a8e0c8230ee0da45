import type { TransactionsContext } from '../transactions/model/runtime.ts'
import { type TopUpOptions, topUpRelayer } from '../transactions/top-up/top-up.ts'
import { listFilled } from '../transactions/top-up/top-ups-store.ts'
import { createLeaseHolder } from './lease-holder.ts'
import { createLoop, type Loop } from './loop.ts'

/** Time in ms between two rounds of the loop. A round costs nothing while none is due. */
const ROUND_MS = 1_000

/** Time in ms that the lease lasts. Two processes that decide at the same time pay only once. */
const LEASE_MS = 15_000

/** Fills relayers from their treasuries, in one process at a time. A relayer that fails does not affect the others. */
export function createTopUpWorker(context: TransactionsContext, options: TopUpOptions): Loop {
  const { db, clock, owner, log } = context
  const lease = createLeaseHolder({ db, clock, owner, name: 'top-ups', ttlMs: LEASE_MS })
  let dueAt = Number.NEGATIVE_INFINITY

  async function fill(relayerId: string): Promise<void> {
    try {
      await topUpRelayer(context, relayerId, options)
    } catch (error) {
      log.error({ err: error, relayer: relayerId }, 'top-up failed; retrying')
    }
  }

  const loop = createLoop({
    name: 'top-ups',
    intervalMs: ROUND_MS,
    clock,
    log,
    work: async () => {
      if (!(await lease.hold()) || clock.monotonic() < dueAt) return
      dueAt = clock.monotonic() + options.intervalMs
      await Promise.all((await listFilled(db)).map(fill))
    },
  })
  return {
    ...loop,
    wake: () => {
      dueAt = Number.NEGATIVE_INFINITY
      loop.wake()
    },
    stop: async () => {
      await loop.stop()
      await lease.release()
    },
  }
}
