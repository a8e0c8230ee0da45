import { backoffMs, type Clock } from '../../lib/time.ts'

/** The maximum number of concurrent requests to one receiver. */
export const MAX_CONCURRENT = 16

/** The limit while a receiver fails: one request notices that it is back, and does not overload it. */
const MAX_CONCURRENT_FAILING = 1

/**
 * A receiver is suspended after this many deliveries in a row have failed at their first attempt, without a
 * success in between.
 */
const SUSPENDED_AFTER = 16

/**
 * The wait in ms before each request to a suspended receiver. It doubles; a receiver that is back is noticed
 * within a minute.
 */
const PROBE = { baseMs: 5_000, maxMs: 60_000, jitter: 'equal' } as const

/**
 * A receiver suspended for this time, in ms, counts as permanently failing. Measured by the monotonic clock:
 * a wall clock that jumps forward by a day must not give up what was never sent.
 */
const SURE_AFTER_MS = 3_600_000

/** The result of a request to the receiver. */
export interface Experience {
  readonly failed: boolean
  /**
   * It was the first try of its delivery. The others come at their own, growing intervals, and prove nothing
   * new.
   */
  readonly first: boolean
  /** Time in ms during which the receiver accepts no requests (`Retry-After`). */
  readonly restMs?: number | undefined
}

/**
 * The number of simultaneous requests to a receiver, in this process. A restart loses it, which costs a few
 * requests.
 */
export interface Capacity {
  /** True when a further request may start now. */
  isFree(): boolean
  /** True while the receiver gets only single requests, to notice that it is back. */
  isSuspended(): boolean
  /** True when it has been so for at least `SURE_AFTER_MS`. */
  isSuspendedForLong(): boolean
  started(): void
  ended(experience: Experience): void
  /** Lets a suspended receiver have its next request now. */
  probeNow(): void
  /** Forgets everything but the running requests: it is another receiver now. */
  restart(): void
}

interface CapacityDeps {
  readonly clock: Clock
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/** Creates the capacity of a receiver that is assumed to work. */
export function createCapacity({ clock, random }: CapacityDeps): Capacity {
  let running = 0
  let failing = false
  let failures = 0
  let restsUntil = 0
  let probeAt = 0
  let suspendedSince: number | undefined

  const isSuspended = () => failures >= SUSPENDED_AFTER
  return {
    isFree: () =>
      clock.monotonic() >= Math.max(restsUntil, probeAt) &&
      running < (failing ? MAX_CONCURRENT_FAILING : MAX_CONCURRENT),
    isSuspended,
    isSuspendedForLong: () =>
      suspendedSince !== undefined && clock.monotonic() - suspendedSince >= SURE_AFTER_MS,
    started: () => {
      running += 1
    },
    ended: ({ failed, first, restMs }) => {
      running -= 1
      failing = failed
      if (!failed) failures = 0
      else if (first || isSuspended()) failures += 1
      const now = clock.monotonic()
      suspendedSince = isSuspended() ? (suspendedSince ?? now) : undefined
      if (restMs !== undefined) restsUntil = Math.max(restsUntil, now + restMs)
      probeAt = isSuspended() ? now + backoffMs(failures - SUSPENDED_AFTER + 1, { ...PROBE, random }) : 0
    },
    probeNow: () => {
      probeAt = 0
    },
    restart: () => {
      failing = false
      failures = 0
      restsUntil = 0
      probeAt = 0
      suspendedSince = undefined
    },
  }
}
