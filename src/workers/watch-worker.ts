import type { HeadFeed } from '../chains/answer.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { RelayerRuntime, TransactionsContext } from '../transactions/model/runtime.ts'
import { watchNetwork } from '../transactions/watch/watch.ts'
import { createWatchMemory } from '../transactions/watch/watch-round.ts'
import { createLeaseHolder } from './lease-holder.ts'
import { createLoop, type Loop } from './loop.ts'

/** How long one process watches a network without asking for the lease again, in ms. */
const LEASE_MS = 10_000

/** Bounds of the time between two looks at a network, in ms. Twice per block is enough to tell of each within it. */
const MIN_INTERVAL_MS = 100
const MAX_INTERVAL_MS = 5_000

/** Between two looks while new blocks announce themselves and nothing is left open, in blocks: only the backstop. */
const BACKSTOP_BLOCKS = 4

export interface WatchTarget {
  /** Distinguishes networks, and relayers of one network that have RPC urls of their own. */
  readonly key: string
  readonly runtime: RelayerRuntime
  /** Those that there are now. */
  readonly relayers: () => readonly Relayer[]
}

/** Watches one network, in one process at a time: at each block where an endpoint tells of them, else by polling. */
export function createWatchWorker(context: TransactionsContext, target: WatchTarget): Loop {
  const memory = createWatchMemory()
  const { chain, network } = target.runtime
  const backstopMs = BACKSTOP_BLOCKS * network.averageBlocktimeMs
  const { db, clock, owner } = context
  const lease = createLeaseHolder({ db, clock, owner, name: `watch:${target.key}`, ttlMs: LEASE_MS })
  let feed: HeadFeed | undefined
  let newHead = false
  let lookedAt = Number.NEGATIVE_INFINITY

  const mayWait = () =>
    feed?.live === true &&
    !newHead &&
    memory.settledAt !== undefined &&
    context.clock.now() - lookedAt < backstopMs

  const loop = createLoop({
    name: `watch ${target.key}`,
    intervalMs: Math.min(
      MAX_INTERVAL_MS,
      Math.max(MIN_INTERVAL_MS, Math.floor(network.averageBlocktimeMs / 2)),
    ),
    clock: context.clock,
    log: context.log,
    work: async () => {
      if (!(await lease.ask()) || mayWait()) return
      newHead = false
      lookedAt = context.clock.now()
      await watchNetwork(context, { runtime: target.runtime, relayers: target.relayers(), memory })
    },
  })
  return {
    ...loop,
    start: () => {
      feed ??= chain.headSubscription?.subscribe(() => {
        newHead = true
        loop.wake()
      })
      loop.start()
    },
    stop: async () => {
      feed?.stop()
      await loop.stop()
      await lease.giveUp()
    },
  }
}
