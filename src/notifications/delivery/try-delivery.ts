import { readRetryAfter } from '../../lib/http/retry-after.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { GuardedHttpClient } from '../../security/guarded-http-client.ts'
import { signatureHeaders } from '../signature.ts'
import type { Exchange, Outgoing, Prepared, Settlement } from './delivery.ts'
import { nextTry } from './schedule.ts'
import type { DeliveryTracer } from './tracer.ts'

/** The dependencies of a try. */
export interface TryDeps {
  readonly clock: Clock
  readonly httpClient: GuardedHttpClient
  /** Timeout of a try, in ms. */
  readonly timeoutMs: number
  /** Returns a number from 0 to 1; `Math.random` except in tests. */
  readonly random: () => number
  /** Absent when traces are off. */
  readonly tracer?: DeliveryTracer | undefined
}

interface Try extends Prepared {
  readonly url: string
  /** The part of the url that people may see. */
  readonly maskedUrl: string
  /** Signing keys, newest first. */
  readonly keys: readonly string[]
  /** The receiver has failed for everything for long. */
  readonly failsForLong: boolean
}

/** The result of a try, and its consequences for the receiver. */
export interface TryResult {
  readonly settlement: Settlement & { readonly lastTry: Exchange }
  /** The url of a receiver that answered with 410 and wants no further events. */
  readonly goneUrl?: string
  /** Time in ms during which the receiver wants no requests (`Retry-After`). */
  readonly restMs?: number | undefined
}

const USER_AGENT = 'relayer-webhooks'

const UNWRITABLE = 'The service could not write the body; its log has the reason.'

/** Sends an event once. The promise never rejects: every failure is an outcome, a body that cannot be written too. */
export async function tryDelivery(
  deps: TryDeps,
  { item, body, url, maskedUrl, keys, failsForLong }: Try,
): Promise<TryResult> {
  const at = deps.clock.now()
  if (body === undefined) {
    const exchange = { url: maskedUrl, headers: {}, latencyMs: 0, error: UNWRITABLE }
    return evaluateTry(deps, { item, at, url, exchange, failsForLong })
  }
  const { event, notificationId, tries } = item
  const span = deps.tracer && (await deps.tracer.begin({ event, notificationId, tries, url }))
  const headers = {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    ...span?.headers,
    ...signatureHeaders({ id: item.event.uid, at, body, keys }),
  }
  const started = performance.now()
  const answer = await send(deps, { url, headers, body })
  const latencyMs = Math.round(performance.now() - started)
  span?.end({ status: answer.response?.code, isDelivered: answer.error === undefined })
  const exchange: Exchange = { url: maskedUrl, headers, latencyMs, ...answer }
  return evaluateTry(deps, { item, at, url, exchange, failsForLong })
}

type Outcome = Pick<Exchange, 'response' | 'error'>

async function send(
  { httpClient, timeoutMs }: TryDeps,
  request: { url: string; headers: Record<string, string>; body: string },
): Promise<Outcome> {
  try {
    const { status, headers, body } = await httpClient.post({ ...request, timeoutMs })
    const response = { code: status, headers, body }
    return isSuccess(status) ? { response } : { response, error: `The receiver answered with ${status}.` }
  } catch (error) {
    return { error: `The receiver did not answer: ${reasonOf(error)}.` }
  }
}

function isSuccess(code: number): boolean {
  return code >= 200 && code <= 299
}

/** The error messages of Node.js; several when a host name has several addresses. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

interface Sent {
  readonly item: Outgoing
  readonly at: number
  readonly url: string
  readonly exchange: Exchange
  readonly failsForLong: boolean
}

function evaluateTry({ clock, random }: TryDeps, { item, at, url, exchange, failsForLong }: Sent): TryResult {
  const common = { item, triedAt: new Date(at), lastTry: exchange }
  if (exchange.error === undefined) return { settlement: { ...common, status: 'delivered' } }
  if (exchange.response?.code === 410) return { settlement: { ...common, status: 'dead' }, goneUrl: url }
  const now = clock.now()
  const restMs = readRetryAfter(exchange.response?.headers['retry-after'], now)
  const next = nextTry({
    tries: item.tries + 1,
    now,
    giveUpAt: item.giveUpAt.getTime(),
    failsForLong,
    retryAfterMs: restMs,
    random,
  })
  return next.kind === 'never'
    ? { settlement: { ...common, status: 'dead' }, restMs }
    : { settlement: { ...common, status: 'pending', delayMs: next.delayMs }, restMs }
}
