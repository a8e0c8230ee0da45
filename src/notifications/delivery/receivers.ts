import type { Clock } from '../../lib/time/clock.ts'
import type { TryResult } from './try-delivery.ts'

/** The maximum number of concurrent requests to one receiver, for each process. */
const MAX_CONCURRENT = 16

/** The limit while a receiver fails: one request notices that it is back, and does not overload it. */
const MAX_CONCURRENT_FAILING = 1

/** The state of each receiver, as seen by this process. A restart loses it, which costs a few requests. */
export interface Receivers {
  /** The number of further requests that may start now. */
  freeSlots(notificationId: string): number
  /** Counts a request that starts. */
  started(notificationId: string): void
  /** Counts a request that has ended. */
  finished(notificationId: string): void
  /** Learns from the result of a try: failures, and times without requests. */
  learn(notificationId: string, result: TryResult): void
}

interface Receiver {
  running: number
  failing: boolean
  restsUntil: number
}

/** Creates the state of receivers, in which all work and none rests. */
export function createReceivers(clock: Clock): Receivers {
  const known = new Map<string, Receiver>()

  function of(id: string): Receiver {
    const receiver = known.get(id) ?? { running: 0, failing: false, restsUntil: 0 }
    known.set(id, receiver)
    return receiver
  }

  return {
    freeSlots(id) {
      const { running, failing, restsUntil } = of(id)
      if (clock.monotonic() < restsUntil) return 0
      return Math.max(0, (failing ? MAX_CONCURRENT_FAILING : MAX_CONCURRENT) - running)
    },
    started(id) {
      of(id).running += 1
    },
    finished(id) {
      of(id).running -= 1
    },
    learn(id, { settlement, restMs }) {
      const receiver = of(id)
      receiver.failing = settlement.exchange.error !== undefined
      if (restMs !== undefined)
        receiver.restsUntil = Math.max(receiver.restsUntil, clock.monotonic() + restMs)
    },
  }
}
