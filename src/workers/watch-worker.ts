import { acquireLease, type Lease, releaseLease } from '../database/lease.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { Operator, TransactionsContext } from '../transactions/context.ts'
import { createWatchMemory, watchNetwork } from '../transactions/watch.ts'
import { createLoop, type Loop } from './loop.ts'

/** How long one process watches a network without asking for the lease again, in ms. */
const LEASE_MS = 10_000

/** Bounds of the time between two looks at a network, in ms. Twice per block is enough to tell of each within it. */
const MIN_INTERVAL_MS = 100
const MAX_INTERVAL_MS = 5_000

interface WatchTarget {
  /** Distinguishes networks, and relayers of one network that have RPC urls of their own. */
  readonly key: string
  readonly operator: Operator
  readonly relayers: readonly Relayer[]
}

/** Watches one network, in one process at a time. */
export function createWatchWorker(context: TransactionsContext, target: WatchTarget): Loop {
  const memory = createWatchMemory()
  const { averageBlocktimeMs } = target.operator.network
  let lease: Lease | undefined
  let askAgainAt = 0
  const loop = createLoop({
    name: `watch ${target.key}`,
    intervalMs: Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, Math.floor(averageBlocktimeMs / 2))),
    clock: context.clock,
    log: context.log,
    work: async () => {
      const now = context.clock.now()
      if (now >= askAgainAt) {
        lease = await acquireLease(context.db, {
          name: `watch:${target.key}`,
          owner: context.owner,
          ttlMs: LEASE_MS,
        })
        if (lease !== undefined) askAgainAt = now + LEASE_MS / 2
      }
      if (lease !== undefined) await watchNetwork(context, { ...target, memory })
    },
  })
  return {
    ...loop,
    stop: async () => {
      await loop.stop()
      if (lease !== undefined) await releaseLease(context.db, lease)
    },
  }
}
