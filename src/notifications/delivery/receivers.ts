import type { Clock } from '../../lib/clock.ts'
import type { TryResult } from './try-delivery.ts'

/** Requests that one receiver has at a time, from each process. */
const AT_A_TIME = 16

/** While a receiver fails it gets one request at a time: enough to notice that it is back, and no storm when it is. */
const AT_A_TIME_FAILING = 1

/** How each receiver is doing, as this process has seen it. A restart forgets it, which costs a few requests. */
export interface Receivers {
  /** How many more requests it may be sent now. */
  free(notificationId: string): number
  entered(notificationId: string): void
  left(notificationId: string): void
  ended(notificationId: string, result: TryResult): void
}

interface Receiver {
  underWay: number
  failing: boolean
  restsUntil: number
}

export function createReceivers(clock: Clock): Receivers {
  const known = new Map<string, Receiver>()

  function of(id: string): Receiver {
    const receiver = known.get(id) ?? { underWay: 0, failing: false, restsUntil: 0 }
    known.set(id, receiver)
    return receiver
  }

  return {
    free(id) {
      const { underWay, failing, restsUntil } = of(id)
      if (clock.now() < restsUntil) return 0
      return Math.max(0, (failing ? AT_A_TIME_FAILING : AT_A_TIME) - underWay)
    },
    entered(id) {
      of(id).underWay += 1
    },
    left(id) {
      of(id).underWay -= 1
    },
    ended(id, { settlement, restMs }) {
      const receiver = of(id)
      receiver.failing = settlement.exchange.error !== undefined
      if (restMs !== undefined) receiver.restsUntil = Math.max(receiver.restsUntil, clock.now() + restMs)
    },
  }
}
