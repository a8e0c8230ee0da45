import type { Db } from '../database/schema.ts'
import { larger } from '../lib/bigint.ts'
import type { EventFilter, EventRecord } from './event.ts'
import { lastNumber } from './number-store.ts'
import { readEvents } from './store.ts'

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
