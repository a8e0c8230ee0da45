import type { EventRecord } from '../../events/event.ts'

/**
 * `waiting`: an earlier delivery of its ordering key is open · `pending`: to be tried · `delivered` · `dead`:
 * given up. The last two are final.
 */
export type DeliveryStatus = 'waiting' | 'pending' | 'delivered' | 'dead'

/** The stored request and answer of a try. */
export interface Exchange {
  /** Masked, because people see it. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly latencyMs: number
  /** Absent if no complete response arrived. */
  readonly response?: {
    readonly code: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
  /** The reason for the failure; absent after a success. */
  readonly error?: string
}

/** The reason for which a delivery was given up without a try. */
interface NeverSent {
  readonly error: string
}

/** One event for one notification. */
export interface Delivery {
  readonly id: string
  readonly notificationId: string
  readonly status: DeliveryStatus
  readonly tries: number
  readonly nextTryAt?: Date
  readonly triedAt?: Date
  readonly settledAt?: Date
  readonly lastTry?: Exchange | NeverSent
}

/** A delivery that is to be tried. */
export interface Outgoing {
  readonly notificationId: string
  readonly event: EventRecord
  /** Deliveries of one ordering key arrive in the order of their events. */
  readonly orderingKey: string
  /** The number of tries so far. */
  readonly tries: number
  readonly giveUpAt: Date
  /** It has a row: an earlier attempt failed, or it was requested again. */
  readonly stored: boolean
}

/** An outgoing delivery with the exact text that is signed and sent; undefined if it could not be written. */
export interface Prepared {
  readonly item: Outgoing
  readonly body: string | undefined
}

/** The next state of an outgoing delivery, ready to be written. */
export interface Settlement {
  readonly item: Outgoing
  readonly status: DeliveryStatus
  /** The delay until the next try, in the status `pending`. */
  readonly delayMs?: number | undefined
  /** Absent if it was not sent. */
  readonly triedAt?: Date
  readonly lastTry?: Exchange | NeverSent
}

/** Receives the outcomes of delivery tries after they are stored. It must not throw. */
export interface DeliveryObserver {
  tried(attempt: {
    /** `retried`: it failed and will be retried. `dead`: it will not be retried automatically. */
    readonly outcome: 'delivered' | 'retried' | 'dead'
    readonly seconds: number
  }): void
}

/** A try of a delivery. */
export interface TracedTry {
  readonly event: EventRecord
  readonly notificationId: string
  /** The number of tries before this one. */
  readonly tries: number
  /** Whole: the tracer shows only its host. */
  readonly url: string
}

/** The outcome of an attempt; without a status there was no complete response. */
interface TryOutcome {
  readonly status: number | undefined
  readonly isDelivered: boolean
}

/** A try that is being recorded. */
export interface DeliverySpan {
  /** The headers that give the receiver the trace context. */
  readonly headers: Readonly<Record<string, string>>
  end(outcome: TryOutcome): void
}

/** Records tries of deliveries in the traces of their transactions. */
export interface DeliveryTracer {
  /** Begins to record a try. Never rejects. */
  begin(item: TracedTry): Promise<DeliverySpan>
}
