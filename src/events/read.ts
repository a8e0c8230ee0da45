import type { Kysely } from 'kysely'
import type { Schema } from '../database/schema.ts'
import type { EventFilter, EventRecord } from './event.ts'
import { lastNumber } from './number-store.ts'
import { readEvents } from './store.ts'

/** Reads the next events of a reader, oldest first. No event with a number up to the last one of them is committed later. */
export async function nextEvents(
  db: Kysely<Schema>,
  options: EventFilter & { readonly after: bigint; readonly limit: number },
): Promise<EventRecord[]> {
  return readEvents(db, { ...options, upTo: await lastNumber(db) })
}
