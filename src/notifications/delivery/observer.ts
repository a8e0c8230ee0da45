/** Is told of tries to deliver events, once their outcome is stored. Must not throw. */
export interface DeliveryObserver {
  tried(attempt: {
    /** `retried`: it failed and is made again. `dead`: it is not made again by itself. */
    readonly outcome: 'delivered' | 'retried' | 'dead'
    readonly seconds: number
  }): void
}
