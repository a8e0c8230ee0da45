import type { Kysely } from 'kysely'
import type { Schema } from '../database/schema.ts'
import type { Clock } from '../lib/clock.ts'
import type { EventFilter, EventRecord } from './event.ts'
import { nextEvents } from './read.ts'
import type { EventNotifier } from './wakers.ts'

/** Events read at a time, and so the most that a slow reader keeps in memory. */
const PAGE = 100

interface FollowOptions extends EventFilter {
  readonly after: bigint
  /** The longest silence between two results, in ms; then an empty one is given. */
  readonly heartbeatMs: number
  /** Ends the following. */
  readonly signal: AbortSignal
}

/**
 * The events after a cursor, and then each new one, in pages of at most 100. Reads on only when the consumer asks for more,
 * so a slow one costs one page of memory. An empty page is a sign of life.
 */
export async function* followEvents(
  { db, clock, notifier }: { db: Kysely<Schema>; clock: Clock; notifier: EventNotifier },
  { after, heartbeatMs, signal, ...filter }: FollowOptions,
): AsyncGenerator<readonly EventRecord[]> {
  let cursor = after
  const listener = notifier.add()
  signal.addEventListener('abort', listener.wake)
  try {
    while (!signal.aborted) {
      // Armed before reading: what is committed between reading and waiting ends the wait at once.
      const news = listener.arm()
      const page = await nextEvents(db, { ...filter, after: cursor, limit: PAGE })
      cursor = page.at(-1)?.number ?? cursor
      if (page.length > 0) yield page
      else if (!signal.aborted) {
        await clock.sleep(heartbeatMs, news)
        if (!news.aborted) yield []
      }
    }
  } finally {
    signal.removeEventListener('abort', listener.wake)
    listener.remove()
  }
}
