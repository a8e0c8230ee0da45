import type { Db } from '../database/db.ts'
import { larger } from '../lib/bigint.ts'
import type { Clock } from '../lib/time.ts'
import type { EventFilter, EventRecord } from './event.ts'
import { lastNumber, readEvents } from './store.ts'

/** The number of events in a page, and so the maximum that a slow reader keeps in memory. */
const PAGE = 100

interface FollowOptions extends EventFilter {
  readonly after: bigint
  /** The longest time in ms without a page; after it, an empty page follows. */
  readonly heartbeatMs: number
  /** Ends the generator. */
  readonly signal: AbortSignal
}

/**
 * Yields the events after a cursor, and then each new one, in pages of at most 100. It reads the next page only when the consumer requests
 * it, so a slow consumer costs one page of memory. An empty page is a heartbeat.
 */
export async function* followEvents(
  { db, clock, notifier }: { db: Db; clock: Clock; notifier: EventNotifier },
  { after, heartbeatMs, signal, ...filter }: FollowOptions,
): AsyncGenerator<readonly EventRecord[]> {
  let cursor = after
  const listener = notifier.add()
  signal.addEventListener('abort', listener.wake)
  try {
    while (!signal.aborted) {
      // Armed before the read: an event that is committed between the read and the wait ends the wait immediately.
      const newEvents = listener.arm()
      const { events, upTo } = await nextPage(db, { ...filter, after: cursor, limit: PAGE })
      // The next look does not read again what the filter has left out.
      cursor = upTo
      if (events.length > 0) yield events
      else if (!signal.aborted) {
        await clock.sleep(heartbeatMs, newEvents)
        if (!newEvents.aborted) yield []
      }
    }
  } finally {
    signal.removeEventListener('abort', listener.wake)
    listener.remove()
  }
}

/** Events, and the number up to which the reader has seen every event that it may see. */
export interface EventPage {
  readonly events: readonly EventRecord[]
  readonly upTo: bigint
}

/** Reads the next events of a reader, oldest first. No event with a number up to `upTo` is committed later. */
export async function nextPage(
  db: Db,
  options: EventFilter & { readonly after: bigint; readonly limit: number },
): Promise<EventPage> {
  const last = await lastNumber(db)
  const events = await readEvents(db, { ...options, upTo: last })
  // A page can end before the last number because of its limit, and then it has events.
  const newest = events.at(-1)?.number ?? last
  return { events, upTo: larger(newest, options.after) }
}

/** Reads the next events of a reader, oldest first. No event with a number up to the last one of them is committed later. */
export async function nextEvents(
  db: Db,
  options: EventFilter & { readonly after: bigint; readonly limit: number },
): Promise<readonly EventRecord[]> {
  return (await nextPage(db, options)).events
}

/** A waiting reader of events. */
interface EventListener {
  /** Returns a signal that aborts at the next announced event after this call, or at `wake`. */
  arm(): AbortSignal
  wake(): void
  remove(): void
}

/** Wakes all readers of this process that wait for events. One listening database connection serves them all. */
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
 * Creates a notifier without readers. It listens only while there are any: with many processes on one database, each of which hears of every
 * event of all of them, most of what they heard would be for no one. `listen` calls the handler for each announcement, as
 * `Database.listen` does.
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
