import type { EventRecord } from '../../events/event.ts'

/** A try of a delivery. */
export interface TracedTry {
  readonly event: EventRecord
  readonly notificationId: string
  /** The number of tries before this one. */
  readonly tries: number
  /** Whole: the tracer shows only its host. */
  readonly url: string
}

/** The outcome of a try; without a status there was no complete answer. */
export interface TryOutcome {
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
