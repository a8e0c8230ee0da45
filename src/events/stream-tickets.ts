import type { Db } from '../database/schema.ts'
import type { Clock } from '../lib/time/clock.ts'
import { drawTicket, hashTicket } from './ticket.ts'
import { insertTicket, type TicketGrant, takeTicket } from './ticket-store.ts'

/** The life of a ticket in ms: enough for a page to load, and too short for a log that somebody reads later. */
const LIFE_MS = 60_000

/** Issues and redeems tickets for event streams. The database has them, so that each is valid once for all processes on it. */
export interface StreamTickets {
  /** Returns a new ticket. It is the only copy: the database has its hash. */
  issue(grant: TicketGrant): Promise<{ readonly ticket: string; readonly expiresAt: Date }>
  /** Returns the rights of a ticket and ends it; undefined when it was never issued, was used, or has expired. */
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
