import { sql } from 'kysely'
import type { Db } from '../database/schema.ts'
import type { EventFilter, EventType } from './event.ts'

/** The rights of a ticket. */
export interface TicketGrant {
  /** The API key that asked for it, whose rights it has. */
  readonly keyId: string
  /** The stream has no other events. */
  readonly filter: EventFilter
}

interface NewTicket extends TicketGrant {
  readonly hash: Uint8Array
  readonly now: Date
  readonly expiresAt: Date
}

/** Stores a ticket, and deletes those whose time is over, so that the table has only the tickets of the last minute. */
export async function insertTicket(
  db: Db,
  { hash, keyId, filter, now, expiresAt }: NewTicket,
): Promise<void> {
  await sql`
    with expired as (delete from stream_tickets where expires_at <= ${now})
    insert into stream_tickets (hash, caller, relayer_id, event_type, expires_at)
    values (${hash}, ${keyId}, ${filter.relayerId ?? null}, ${filter.type ?? null}, ${expiresAt})`.execute(db)
}

/** Takes a ticket out of the table: of several processes that try it, one gets the rights and all others undefined. */
export async function takeTicket(db: Db, hash: Uint8Array, now: Date): Promise<TicketGrant | undefined> {
  const row = await db
    .deleteFrom('stream_tickets')
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .returning(['caller', 'relayer_id', 'event_type'])
    .executeTakeFirst()
  return (
    row && {
      keyId: row.caller,
      filter: {
        relayerId: row.relayer_id ?? undefined,
        // The service wrote the type itself.
        type: (row.event_type ?? undefined) as EventType | undefined,
      },
    }
  )
}
