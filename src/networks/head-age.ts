import type { Network } from './network.ts'

/**
 * The newest head of a network, as its endpoints report it. Times are in ms of the monotonic clock. It is a
 * value: each reply of an endpoint creates a new one.
 */
export interface SeenHead {
  readonly height: bigint
  /**
   * The time at which an endpoint first reported this height. The block can be older: there were no queries
   * for a while, or this process has just started.
   */
  readonly since: number
  /** The time at which an endpoint last reported this height. */
  readonly confirmedAt: number
  /** A lower head was seen before: the network has made a block since this process started. */
  readonly advanced: boolean
}

/**
 * Lower heights come from lagging nodes, unless no node has reported the highest one for this long, in ms:
 * then the chain was rolled back.
 */
const ROLLED_BACK_MS = 60_000

/** Adds the height that an endpoint reported at this time. Pure. */
export function seeHead(before: SeenHead | undefined, height: bigint, now: number): SeenHead {
  if (before === undefined) return { height, since: now, confirmedAt: now, advanced: false }
  if (height === before.height) return { ...before, confirmedAt: now }
  if (height < before.height && now - before.confirmedAt < ROLLED_BACK_MS) return before
  return { height, since: now, confirmedAt: now, advanced: true }
}

/**
 * A head that was seen longer ago than this, in ms, says nothing about now: a process that queries no node
 * cannot know that the head is unchanged.
 */
const STALE_MS = 90_000

/**
 * Returns the time in ms for which the head has certainly not moved: from the first to the last reply with
 * it. Undefined if no endpoint has reported it recently. Pure.
 */
export function headAge(seen: SeenHead | undefined, now: number): number | undefined {
  if (seen === undefined || now - seen.confirmedAt >= STALE_MS) return undefined
  return seen.confirmedAt - seen.since
}

/**
 * A network has halted if it has made no block for this many block times, and for at least this time in ms.
 * All public networks miss blocks now and then, but never this many in a row. A lower number warns of
 * hiccups, a higher one later.
 */
const HALTED_BLOCKS = 20
const HALTED_MS = 60_000

/** A block is late after this many block times, and at least this time in ms: the diagnosis then says so. */
const LATE_BLOCKS = 4
const LATE_MS = 10_000

/** The tag of networks that make blocks only when there are transactions, so that silence is their rest. */
const ON_DEMAND = ['blocks-on-demand', 'arbitrum-based']

/**
 * The chain ids of nodes for development: anvil and Hardhat, geth `--dev` and Ganache. Most of them make a
 * block for each transaction.
 */
const DEVELOPMENT_CHAINS = [31_337, 1_337]

/** Returns true for a network that makes blocks only when there are transactions. Pure. */
export function pausesWhenIdle(network: Network): boolean {
  if (network.tags?.some((tag) => ON_DEMAND.includes(tag))) return true
  return network.type === 'evm' && DEVELOPMENT_CHAINS.includes(network.chainId)
}

/**
 * Returns the age of the head, in ms, from which on the network counts as halted; undefined for a network
 * that makes blocks only on demand, for which its age means nothing. Pure.
 */
export function haltedAfterMs(network: Network): number | undefined {
  if (pausesWhenIdle(network)) return undefined
  return Math.max(HALTED_MS, HALTED_BLOCKS * network.averageBlocktimeMs)
}

/**
 * Returns true if the head has this age, in ms, and no network pauses that long normally. An unknown age is
 * never too old (I6). Pure.
 */
export function isHeadStale(network: Network, ageMs: number | undefined): boolean {
  const limit = haltedAfterMs(network)
  return ageMs !== undefined && limit !== undefined && ageMs >= limit
}

/** Returns true if a block that is waited for is late. Pure. */
export function isBlockLate(
  { averageBlocktimeMs }: Pick<Network, 'averageBlocktimeMs'>,
  ageMs: number,
): boolean {
  return ageMs >= Math.max(LATE_MS, LATE_BLOCKS * averageBlocktimeMs)
}

/** The newest head of a network at a moment. */
export interface HeadState {
  readonly number: bigint
  /** No newer block has been seen for at least this long, in ms. */
  readonly ageMs: number
  /** The age exceeds the network's normal pauses. */
  readonly halted: boolean
}

/** Describes the newest head; undefined if no endpoint has reported it recently. Pure. */
export function describeHead(
  network: Network,
  seen: SeenHead | undefined,
  now: number,
): HeadState | undefined {
  const ageMs = headAge(seen, now)
  if (seen === undefined || ageMs === undefined) return undefined
  return { number: seen.height, ageMs, halted: isHeadStale(network, ageMs) }
}
