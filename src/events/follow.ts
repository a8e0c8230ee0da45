import type { Db } from '../database/schema.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { EventFilter, EventRecord } from './event.ts'
import type { EventNotifier } from './notifier.ts'
import { nextPage } from './read.ts'

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
 * Yields the events after a cursor, and then each new one, in pages of at most 100. It reads the next page only when the consumer asks for it,
 * so a slow consumer costs one page of memory. An empty page is a heartbeat.
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
      // Armed before the read: an event that is committed between the read and the wait ends the wait at once.
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
