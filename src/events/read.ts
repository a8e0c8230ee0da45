import type { Kysely } from 'kysely'
import type { Schema } from '../database/schema.ts'
import type { EventFilter, EventRecord } from './event.ts'
import { numberBatch } from './number-store.ts'
import { readEvents } from './store.ts'

/**
 * Reads the next events of a reader, oldest first, including everything that was committed before the call. Numbers are assigned here, at the
 * read, so that a service without readers never pays for them.
 */
export async function nextEvents(
  db: Kysely<Schema>,
  options: EventFilter & { readonly after: bigint; readonly limit: number },
): Promise<EventRecord[]> {
  for (;;) {
    const { more } = await numberBatch(db)
    const found = await readEvents(db, options)
    // Without `more` there is nothing newer. With it, the log is numbered for the first time, one batch after the other.
    if (found.length > 0 || !more) return found
  }
}
