import type { HeadFeed } from '../chains/answer.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { RelayerRuntime, TransactionsContext } from '../transactions/model/runtime.ts'
import { watchNetwork } from '../transactions/watch/watch.ts'
import { createWatchMemory } from '../transactions/watch/watch-round.ts'
import { createLoop, type Loop } from './loop.ts'

/**
 * Bounds of the time between two watch rounds, in ms. Two rounds per block report each block in time; if a
 * block takes less than a second, one does, because twice as many calls would gain nothing.
 */
const MIN_INTERVAL_MS = 100
const MAX_INTERVAL_MS = 5_000
const FAST_BLOCK_MS = 1_000

/**
 * Blocks between two watch rounds while a subscription announces new blocks and nothing is open. This is only
 * the backstop.
 */
const BACKSTOP_BLOCKS = 4

/** A network, or a part of its relayers, that one worker watches. */
export interface WatchTarget {
  /** Identifies a network, or the relayers of a network that have their own RPC urls. */
  readonly key: string
  readonly runtime: RelayerRuntime
  /** The current relayers. */
  readonly relayers: () => readonly Relayer[]
}

/**
 * Watches the accounts of this process on one network: at each block if an endpoint announces blocks,
 * otherwise by polling. Two processes that watch the same account for a moment do no harm: every write is
 * guarded by the version that was read.
 */
export function createWatchWorker(context: TransactionsContext, target: WatchTarget): Loop {
  const memory = createWatchMemory()
  const { chain, network } = target.runtime
  const backstopMs = BACKSTOP_BLOCKS * network.averageBlocktimeMs
  const { share } = context
  let shareVersion = share.version
  let own: ReadonlySet<string> | undefined
  let feed: HeadFeed | undefined
  let newHead = false
  let lastRoundAt = Number.NEGATIVE_INFINITY

  const isOwn = ({ id }: Relayer) => share.has(id)

  /** Nothing that was settled and checked was so for the accounts that this process has gained. */
  function lookForGained(): void {
    shareVersion = share.version
    const before = own
    own = new Set(target.relayers().flatMap((relayer) => (isOwn(relayer) ? relayer.id : [])))
    if (before === undefined || [...own].every((id) => before.has(id))) return
    memory.settledAt = undefined
    memory.checkedUntil = undefined
    memory.recheckAt = 0
  }

  const mayWait = () =>
    feed?.live === true &&
    !newHead &&
    memory.settledAt !== undefined &&
    context.clock.monotonic() - lastRoundAt < backstopMs

  const loop = createLoop({
    name: `watch ${target.key}`,
    intervalMs: watchIntervalMs(network.averageBlocktimeMs),
    clock: context.clock,
    log: context.log,
    work: async () => {
      if (own === undefined || share.version !== shareVersion) lookForGained()
      if (mayWait()) return
      newHead = false
      lastRoundAt = context.clock.monotonic()
      const relayers = target.relayers().filter(isOwn)
      await watchNetwork(context, { runtime: target.runtime, relayers, memory })
    },
  })
  return {
    ...loop,
    start: () => {
      feed ??= chain.headSubscription?.subscribe(() => {
        newHead = true
        loop.wake()
      })
      return loop.start()
    },
    stop: async () => {
      feed?.stop()
      await loop.stop()
    },
  }
}

function watchIntervalMs(blocktimeMs: number): number {
  const interval = blocktimeMs < FAST_BLOCK_MS ? blocktimeMs : Math.floor(blocktimeMs / 2)
  return Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, interval))
}
