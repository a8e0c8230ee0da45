/** Receives the outcomes of delivery tries after they are stored. It must not throw. */
export interface DeliveryObserver {
  tried(attempt: {
    /** `retried`: it failed and is tried again. `dead`: the service does not try it again by itself. */
    readonly outcome: 'delivered' | 'retried' | 'dead'
    readonly seconds: number
  }): void
}
