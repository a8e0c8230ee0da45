import { hash, randomBytes } from 'node:crypto'

/** The entropy of a ticket in bytes: nobody can try enough of them in the life of one. */
const TICKET_BYTES = 32

/** Draws a ticket, which can stand in a url as it is. */
export function drawTicket(): string {
  return randomBytes(TICKET_BYTES).toString('base64url')
}

/** Returns the hash that is stored. A plain hash is enough, because nobody can guess a random ticket. */
export function hashTicket(ticket: string): Buffer {
  return hash('sha256', ticket, 'buffer')
}
