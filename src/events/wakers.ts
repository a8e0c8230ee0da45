/** One who waits for events. */
export interface EventListener {
  /** A signal that is aborted at the next news after this call, or by `wake`. */
  arm(): AbortSignal
  wake(): void
  remove(): void
}

/** Everybody of this process who waits for events; one listening database connection serves them all. */
export interface EventNotifier {
  add(): EventListener
  wake(): void
}

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
