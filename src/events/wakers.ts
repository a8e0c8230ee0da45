/** One who waits for events. */
export interface Waker {
  /** A signal that is aborted at the next news after this call, or by `wake`. */
  arm(): AbortSignal
  wake(): void
  remove(): void
}

/** Everybody of this process who waits for events; one listening database connection serves them all. */
export interface Wakers {
  add(): Waker
  wake(): void
}

export function createWakers(): Wakers {
  const armed = new Map<Waker, AbortController>()
  return {
    add: () => {
      const waker: Waker = {
        arm: () => {
          const controller = new AbortController()
          armed.set(waker, controller)
          return controller.signal
        },
        wake: () => armed.get(waker)?.abort(),
        remove: () => void armed.delete(waker),
      }
      return waker
    },
    wake: () => {
      for (const controller of armed.values()) controller.abort()
    },
  }
}
