import type { Principal } from '../access/principal.ts'
import type { ContractOperation } from '../contract/document.ts'
import type { TicketFilter } from '../contract/operations.ts'
import { AppError } from '../errors.ts'
import { type Caller, requireCredential } from './auth.ts'
import type { HttpContext } from './state.ts'

/** Ends a ticket and returns its rights; undefined when it is not valid any more. */
export type RedeemTicket = (
  ticket: string,
) => Promise<{ readonly principal: Principal; readonly filter: TicketFilter } | undefined>

/** The right to call an operation. */
interface Admission {
  /** The API key; undefined where the operation needs none and the caller sent none. */
  readonly principal: Principal | undefined
  /** The filter of the ticket; absent for a caller with an API key. */
  readonly filter?: TicketFilter
  /** The query without the ticket. */
  readonly querystring: string
}

const UNACCEPTABLE_TICKET = new AppError(
  'unauthorized',
  'This ticket is not known, was used, or is older than 60 s; get a new one with POST /api/v1/events/stream-tickets.',
)

/**
 * Admits a caller with an API key, without a wait. Undefined when a ticket has to decide: the operation takes one, and there is no
 * `Authorization` header. With the header a ticket does not count, and stays valid.
 *
 * @throws AppError `unauthorized`
 */
export function admitByKey(
  { headers, querystring }: HttpContext,
  { operation, caller }: { readonly operation: ContractOperation; readonly caller: Caller },
): Admission | undefined {
  const { tickets, rest } = splitQuery(querystring, operation)
  if (tickets.length > 0 && headers.authorization === undefined) return undefined
  if (operation.secured) requireCredential(caller)
  return { principal: caller.principal, querystring: rest }
}

interface TicketOptions {
  readonly operation: ContractOperation
  readonly redeemTicket: RedeemTicket
  /** Called for a request with a valid ticket. */
  readonly onAuthenticated: (context: HttpContext) => void
}

/**
 * Admits a caller with a ticket, and ends the ticket.
 *
 * @throws AppError `unauthorized`
 */
export async function admitByTicket(
  context: HttpContext,
  { operation, redeemTicket, onAuthenticated }: TicketOptions,
): Promise<Admission> {
  const { tickets, rest } = splitQuery(context.querystring, operation)
  const [ticket, ...others] = tickets
  const granted = ticket === undefined || others.length > 0 ? undefined : await redeemTicket(ticket)
  if (granted === undefined) throw UNACCEPTABLE_TICKET
  onAuthenticated(context)
  return { ...granted, querystring: rest }
}

/** Takes the tickets out of the query, so that no later part sees them. */
function splitQuery(
  querystring: string,
  { ticketParameter }: ContractOperation,
): { tickets: readonly string[]; rest: string } {
  if (ticketParameter === undefined || querystring === '') return { tickets: [], rest: querystring }
  const query = new URLSearchParams(querystring)
  const tickets = query.getAll(ticketParameter)
  if (tickets.length === 0) return { tickets, rest: querystring }
  query.delete(ticketParameter)
  return { tickets, rest: query.toString() }
}
