/** A waiting reader of events. */
interface EventListener {
  /** Returns a signal that aborts at the next announced event after this call, or at `wake`. */
  arm(): AbortSignal
  wake(): void
  remove(): void
}

/**
 * Wakes all readers of this process that wait for events. One listening database connection serves them all.
 */
export interface EventNotifier {
  add(): EventListener
  /** Calls the handler whenever events were committed, until the returned function is called. */
  subscribe(handler: () => void): () => void
}

/** Time in ms for which a notifier without readers still listens: the next one often comes soon. */
const LINGER_MS = 10_000

/** Time in ms until it tries again to listen. */
const RETRY_MS = 1_000

/**
 * Creates a notifier without readers. It listens only while there are any: with many processes on one
 * database, each of which hears of every event of all of them, most of what they heard would be for no one.
 * `listen` calls the handler for each announcement, as `Database.listen` does.
 */
export function createEventNotifier(
  listen: (handler: () => void) => Promise<() => Promise<void>>,
): EventNotifier {
  const handlers = new Set<() => void>()
  let listening: Promise<() => Promise<void>> | undefined
  let timer: NodeJS.Timeout | undefined

  function wake(): void {
    for (const handler of handlers) handler()
  }

  function begin(): void {
    clearTimeout(timer)
    if (listening !== undefined || handlers.size === 0) return
    // A handler of its own: the end of an earlier one, which was late, must not end this one.
    const started = listen(() => wake())
    listening = started
    // Events may have been committed before.
    started.then(wake, () => {
      if (listening !== started) return
      listening = undefined
      timer = setTimeout(begin, RETRY_MS).unref()
    })
  }

  function end(): void {
    if (handlers.size > 0) return
    listening?.then((stop) => stop()).catch(() => {})
    listening = undefined
  }

  function subscribe(handler: () => void): () => void {
    handlers.add(handler)
    begin()
    return () => {
      if (!handlers.delete(handler) || handlers.size > 0) return
      clearTimeout(timer)
      timer = setTimeout(end, LINGER_MS).unref()
    }
  }

  return {
    subscribe,
    add: () => {
      let controller: AbortController | undefined
      const wakeReader = () => controller?.abort()
      const remove = subscribe(wakeReader)
      return {
        arm: () => {
          controller = new AbortController()
          return controller.signal
        },
        wake: wakeReader,
        remove,
      }
    },
  }
}
