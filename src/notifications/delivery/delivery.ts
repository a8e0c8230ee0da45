/** `waiting`: an earlier delivery of its ordering key is open · `pending`: has a job · `delivered` · `dead`: given up. The last two are final. */
export type DeliveryStatus = 'waiting' | 'pending' | 'delivered' | 'dead'

/** The stored request and answer of a try. */
export interface Exchange {
  /** Masked, because people see it. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly latencyMs: number
  /** Absent when no complete answer arrived. */
  readonly response?: {
    readonly code: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
  /** The reason for the failure; absent after a success. */
  readonly error?: string
}

/** One event for one notification. */
export interface Delivery {
  readonly id: string
  readonly notificationId: string
  readonly eventId: bigint
  readonly eventNumber: bigint
  /** Deliveries of one ordering key arrive in the order of their events. */
  readonly orderingKey: string
  readonly status: DeliveryStatus
  readonly tries: number
  readonly giveUpAt: Date
  readonly nextTryAt?: Date
  readonly createdAt: Date
  readonly triedAt?: Date
  readonly settledAt?: Date
  readonly lastTry?: Exchange
}
