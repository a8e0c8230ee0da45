import {
  type Principal,
  requireScope,
  seesEverything,
  seesNetwork,
  seesRelayerId,
  type Visibility,
} from '../access/principal.ts'
import type { Contract, ContractOperation } from '../contract/document.ts'
import { sentence } from '../contract/explain.ts'
import type { Input, OperationId, RawInput, TicketFilter } from '../contract/operations.ts'
import type { ContractValidator, ValidationResult, ValidInput } from '../contract/validator.ts'
import { AppError, type ErrorCode, relayerNotFound } from '../errors.ts'
import { type Caller, requireCredential } from './auth.ts'
import type { AdmitCall } from './handler.ts'
import type { Quota, RateLimiter } from './rate-limit.ts'
import type { HttpContext, Middleware } from './state.ts'

/** Returns the network of a relayer by type and name; undefined if there is no such relayer. */
export type NetworkOfRelayer = (relayerId: string) => Promise<string | undefined>

/**
 * Hides the relayer of the path from a key that does not see it: the answer is the same as for one that does
 * not exist. Undefined if nothing has to be read for it, which spares most requests a wait.
 * @throws AppError `relayer_not_found`
 */
export function requireVisible(
  { visibility }: Principal,
  relayerId: string | undefined,
  networkOf: NetworkOfRelayer,
): Promise<void> | undefined {
  if (relayerId === undefined || seesEverything(visibility)) return undefined
  if (!seesRelayerId(visibility, relayerId)) throw hidden(relayerId)
  return visibility.networks && requireSeenNetwork(visibility, relayerId, networkOf)
}

async function requireSeenNetwork(
  visibility: Visibility,
  relayerId: string,
  networkOf: NetworkOfRelayer,
): Promise<void> {
  const network = await networkOf(relayerId)
  if (network === undefined || !seesNetwork(visibility, network)) throw hidden(relayerId)
}

function hidden(relayerId: string): AppError {
  return relayerNotFound(relayerId)
}

/** Ends a ticket and returns its rights; undefined if it is no longer valid. */
export type RedeemTicket = (
  ticket: string,
) => Promise<{ readonly principal: Principal; readonly filter: TicketFilter } | undefined>

/** The right to call an operation. */
interface Admission {
  /** The API key; undefined if the operation needs none and the caller sent none. */
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
 * Admits a caller with an API key, synchronously. Undefined if a ticket must decide: the operation accepts
 * one, and there is no `Authorization` header. With the header a ticket is ignored, and stays valid.
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

interface CallAdmissionOptions {
  readonly contract: Contract
  readonly validator: ContractValidator
}

/**
 * Creates the check of calls that a handler makes to another operation: they need its scope, and input that
 * fits the contract.
 */
export function createCallAdmission({ contract, validator }: CallAdmissionOptions): AdmitCall {
  return <Id extends OperationId>(id: Id, principal: Principal, input: RawInput): Input<Id> => {
    const { path, query, body } = input
    const operation = contract.operations.find((other) => other.id === id)
    if (operation === undefined) throw new Error(`the contract has no operation ${id}`)
    requireScope(principal, operation.scope)
    // The validator has proved that the input is that of the operation.
    const querystring = new URLSearchParams(query).toString()
    return requireValid(validator.request(id, { path, querystring, body })) as Input<Id>
  }
}

/**
 * Refuses a request without `Host`, which RFC 9112 §3.2 calls malformed. Node would refuse it without our
 * failure body.
 */
export function requireHost(): Middleware {
  return function requireHost(context, next) {
    if (context.req.httpVersion === '1.1' && context.headers.host === undefined) {
      throw new AppError('invalid_request', 'The request has no Host header.')
    }
    return next()
  }
}

/** The code for a path parameter whose value cannot be an id. */
const NOT_FOUND: Readonly<Record<string, ErrorCode>> = {
  relayer_id: 'relayer_not_found',
  transaction_id: 'transaction_not_found',
  notification_id: 'notification_not_found',
  delivery_id: 'delivery_not_found',
  signer_id: 'signer_not_found',
  network_id: 'network_not_found',
  plugin_id: 'plugin_not_found',
  session_id: 'session_not_found',
  proposal_id: 'proposal_not_found',
  schedule_id: 'schedule_not_found',
}

/**
 * Returns the input of a valid request.
 *
 * @throws AppError with the first problem of an invalid one
 */
export function requireValid(result: ValidationResult): ValidInput {
  switch (result.kind) {
    case 'valid':
      return result.input
    case 'unknown_id':
      throw new AppError(NOT_FOUND[result.parameter] ?? 'not_found', 'There is nothing with this id.')
    case 'invalid':
      throw new AppError('invalid_request', sentence(result.problem))
  }
}

/** Response headers that a page of another origin may read, besides the usual ones. */
const EXPOSED = 'Retry-After, X-Request-Id'

/**
 * Lets pages of these origins read the answer (CORS). Without any, browsers keep it from every page of
 * another origin. Requests with credentials of a browser are not allowed: only the console uses the cookie.
 */
export function createOriginCheck(origins: readonly string[]): (context: HttpContext) => void {
  const allowed = new Set(origins)
  return (context) => {
    if (allowed.size === 0) return
    // A cache must not give the answer for one origin to another.
    context.vary('Origin')
    const origin = context.get('Origin')
    if (!allowed.has(origin)) return
    context.set({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED })
  }
}

/** What pages of other origins may send to a plugin: its calls, and the headers that these need. */
const MOUNT_METHODS = 'GET, POST'

/** How long a browser remembers the answer, in seconds. */
const PREFLIGHT_SECONDS = '600'

/**
 * Lets pages of these origins call a short path of a plugin (CORS), and answers what browsers ask before. `*`
 * is every page; what a page sends besides its body and headers of its own, such as cookies, counts for
 * nothing here.
 */
export function createMountCheck(origins: readonly string[]): (context: HttpContext) => void {
  const isAny = origins.includes('*')
  const allowed = new Set(origins)
  return (context) => {
    if (origins.length === 0) return
    if (!isAny) context.vary('Origin')
    const origin = context.get('Origin')
    if (origin === '' || !(isAny || allowed.has(origin))) return
    context.set({
      'Access-Control-Allow-Origin': isAny ? '*' : origin,
      'Access-Control-Expose-Headers': EXPOSED,
    })
    if (context.method !== 'OPTIONS') return
    const headers = context.get('Access-Control-Request-Headers')
    context.set({
      'Access-Control-Allow-Methods': MOUNT_METHODS,
      'Access-Control-Max-Age': PREFLIGHT_SECONDS,
      ...(HEADER_NAMES.test(headers) && { 'Access-Control-Allow-Headers': headers }),
    })
  }
}

/** A list of names of headers, of a length that a browser sends. */
const HEADER_NAMES = /^[A-Za-z0-9-]{1,60}(, ?[A-Za-z0-9-]{1,60}){0,30}$/

/** A request and the key under which it is counted. */
interface CountedRequest {
  readonly context: HttpContext
  readonly key: string
}

/**
 * Counts a request, and reports the rest of the quota in the headers of
 * draft-ietf-httpapi-ratelimit-headers-10.
 *
 * @throws AppError `rate_limited` if the bucket of the key is empty
 */
export function countRequest(limiter: RateLimiter, { context, key }: CountedRequest): void {
  const quota = limiter.take(key)
  tell(limiter, context, quota)
  if (quota.waitSeconds > 0) throw limited(`Too many requests. Try again in ${quota.waitSeconds} s.`, quota)
}

/**
 * Counts what a request holds besides the first unit, for which it was counted already.
 *
 * @throws AppError `rate_limited` if the bucket has not so much left
 */
export function countFurther(limiter: RateLimiter, { context, key }: CountedRequest, units: number): void {
  if (units <= 0) return
  const quota = limiter.takeFurther(key, units)
  tell(limiter, context, quota)
  if (quota.waitSeconds === 0) return
  const left = `it counts for ${units + 1}, and ${quota.remaining + 1} were left`
  throw limited(`Too many at once: ${left}. Nothing was done; try again in ${quota.waitSeconds} s.`, quota)
}

function tell(limiter: RateLimiter, { res }: HttpContext, quota: Quota): void {
  const { burst, windowSeconds } = limiter.policy
  res.setHeader('RateLimit-Policy', `"requests";q=${burst};w=${windowSeconds}`)
  res.setHeader('RateLimit', `"requests";r=${quota.remaining};t=${resetOf(quota)}`)
}

function limited(detail: string, { waitSeconds }: Quota): AppError {
  return new AppError('rate_limited', detail, { retryAfterSeconds: waitSeconds })
}

/** The draft requires the same time as in `Retry-After`, if there is one. */
function resetOf({ waitSeconds, fullInSeconds }: Quota): number {
  return waitSeconds === 0 ? fullInSeconds : waitSeconds
}
