import type { Kysely } from 'kysely'
import type { Schema } from '../database/schema.ts'
import type { EventFilter, EventRecord } from './event.ts'
import { numberBatch } from './number-store.ts'
import { readEvents } from './store.ts'

/**
 * The next events of a reader, oldest first; everything committed before the call is taken into account. Numbers are given
 * here, when somebody asks, so that a service whose events nobody reads never pays for them.
 */
export async function nextEvents(
  db: Kysely<Schema>,
  options: EventFilter & { readonly after: bigint; readonly limit: number },
): Promise<EventRecord[]> {
  for (;;) {
    const { more } = await numberBatch(db)
    const found = await readEvents(db, options)
    // Without `more` there is nothing newer; with it the log is being numbered for the first time, a piece at a time.
    if (found.length > 0 || !more) return found
  }
}
