import { hash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../database/db.ts'
import type { Clock } from '../lib/time.ts'
import type { EventFilter, EventType } from './event.ts'

/** The life of a ticket in ms: enough for a page to load, and too short to be useful from a log. */
const LIFE_MS = 60_000

/**
 * Issues and redeems tickets for event streams. The database has them, so that each is valid once for all
 * processes on it.
 */
export interface StreamTickets {
  /** Returns a new ticket. It is the only copy: the database has its hash. */
  issue(grant: TicketGrant): Promise<{ readonly ticket: string; readonly expiresAt: Date }>
  /**
   * Returns the rights of a ticket and ends it; undefined if it was never issued, was used, or has expired.
   */
  redeem(ticket: string): Promise<TicketGrant | undefined>
}

/** Creates the tickets of this database. */
export function createStreamTickets({
  db,
  clock,
}: {
  readonly db: Db
  readonly clock: Clock
}): StreamTickets {
  return {
    issue: async (grant) => {
      const ticket = drawTicket()
      const now = clock.now()
      const expiresAt = new Date(now + LIFE_MS)
      await insertTicket(db, { ...grant, hash: hashTicket(ticket), now: new Date(now), expiresAt })
      return { ticket, expiresAt }
    },
    redeem: (ticket) => takeTicket(db, hashTicket(ticket), new Date(clock.now())),
  }
}

/** The entropy of a ticket in bytes: too much to guess in its lifetime. */
const TICKET_BYTES = 32

/** Generates a ticket, which needs no encoding in a URL. */
function drawTicket(): string {
  return randomBytes(TICKET_BYTES).toString('base64url')
}

/** Returns the hash that is stored. A plain hash is enough, because a random ticket cannot be guessed. */
function hashTicket(ticket: string): Buffer {
  return hash('sha256', ticket, 'buffer')
}

/** The rights of a ticket. */
interface TicketGrant {
  /** The API key or session that requested it, whose rights it has. */
  readonly credential: string
  /** The stream has no other events. */
  readonly filter: EventFilter
}

interface NewTicket extends TicketGrant {
  readonly hash: Uint8Array
  readonly now: Date
  readonly expiresAt: Date
}

/**
 * Stores a ticket, and deletes those whose time is over, so that the table has only the tickets of the last
 * minute.
 */
async function insertTicket(db: Db, { hash, credential, filter, now, expiresAt }: NewTicket): Promise<void> {
  await sql`
    with expired as (delete from stream_tickets where expires_at <= ${now})
    insert into stream_tickets (hash, caller, relayer_id, event_type, expires_at)
    values (${hash}, ${credential}, ${filter.relayerId ?? null}, ${filter.type ?? null}, ${expiresAt})`.execute(
    db,
  )
}

/**
 * Takes a ticket out of the table: of several concurrent processes, one gets the rights and all others
 * undefined.
 */
async function takeTicket(db: Db, hash: Uint8Array, now: Date): Promise<TicketGrant | undefined> {
  const row = await db
    .deleteFrom('stream_tickets')
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .returning(['caller', 'relayer_id', 'event_type'])
    .executeTakeFirst()
  return (
    row && {
      credential: row.caller,
      filter: {
        relayerId: row.relayer_id ?? undefined,
        // The service wrote the type itself.
        type: (row.event_type ?? undefined) as EventType | undefined,
      },
    }
  )
}
