/** A waiting reader of events. */
export interface EventListener {
  /** Returns a signal that aborts at the next announced event after this call, or at `wake`. */
  arm(): AbortSignal
  wake(): void
  remove(): void
}

/** Wakes all readers of this process that wait for events. One listening database connection serves them all. */
export interface EventNotifier {
  add(): EventListener
  wake(): void
}

/** Creates a notifier without readers. */
export function createEventNotifier(): EventNotifier {
  const armed = new Map<EventListener, AbortController>()
  return {
    add: () => {
      const listener: EventListener = {
        arm: () => {
          const controller = new AbortController()
          armed.set(listener, controller)
          return controller.signal
        },
        wake: () => armed.get(listener)?.abort(),
        remove: () => void armed.delete(listener),
      }
      return listener
    },
    wake: () => {
      for (const controller of armed.values()) controller.abort()
    },
  }
}
