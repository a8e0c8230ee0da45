import { createHmac } from 'node:crypto'
import { readRetryAfter } from '../../lib/http/http-client.ts'
import { backoffMs, type Clock } from '../../lib/time.ts'
import type { GuardedHttpClient } from '../../security/guarded-http-client.ts'
import type { Notification } from '../notification.ts'
import { type Announcement, readAnnouncement } from '../receivers/announcement.ts'
import { type Mailer, mailOf, recipientsOf } from '../receivers/mail.ts'
import { REQUESTS } from '../receivers/requests.ts'
import type { DeliveryTracer, Exchange, Outgoing, Prepared, Settlement } from './delivery.ts'

/** The dependencies of a try. */
export interface TryDeps {
  readonly clock: Clock
  readonly httpClient: GuardedHttpClient
  /** Timeout of a try, in ms. */
  readonly timeoutMs: number
  /** Returns a number from 0 to 1; `Math.random` except in tests. */
  readonly random: () => number
  /** Absent if traces are off. */
  readonly tracer?: DeliveryTracer | undefined
  /** Absent if the deployment sends no mails. */
  readonly mailer?: Mailer | undefined
  /** The address of the service for people, without a slash at its end. */
  readonly publicUrl?: string | undefined
}

interface Try extends Prepared {
  readonly notification: Pick<Notification, 'type' | 'url'>
  /** The part of the url that people may see. */
  readonly maskedUrl: string
  /** Signing keys, or integration keys, newest first. */
  readonly keys: readonly string[]
  /** The receiver has failed for everything for long. */
  readonly failsForLong: boolean
}

/** The result of a try, and its consequences for the receiver. */
export interface TryResult {
  readonly settlement: Settlement & { readonly lastTry: Exchange }
  /** The URL of a receiver that answered with 410 and accepts no further events. */
  readonly goneUrl?: string
  /** Time in ms during which the receiver accepts no requests (`Retry-After`). */
  readonly restMs?: number | undefined
}

const USER_AGENT = 'relayer-webhooks'

const UNWRITABLE = 'The service could not write the body; its log has the reason.'

/**
 * Sends an event once. The promise never rejects: every failure is an outcome, a body that cannot be written
 * too.
 */
export async function tryDelivery(deps: TryDeps, attempt: Try): Promise<TryResult> {
  const { item, body, maskedUrl, failsForLong } = attempt
  const { url } = attempt.notification
  const at = deps.clock.now()
  const evaluate = (exchange: Omit<Exchange, 'url'>) =>
    evaluateTry(deps, { item, at, url, exchange: { url: maskedUrl, ...exchange }, failsForLong })
  if (body === undefined) return evaluate({ headers: {}, latencyMs: 0, error: UNWRITABLE })
  const { event, notificationId, tries } = item
  const span = deps.tracer && (await deps.tracer.begin({ event, notificationId, tries, url }))
  const started = performance.now()
  const sent = await sendTo(deps, { ...attempt, body, at, traceHeaders: span?.headers ?? {} })
  const latencyMs = Math.round(performance.now() - started)
  span?.end({ status: sent.response?.code, isDelivered: sent.error === undefined })
  return evaluate({ latencyMs, ...sent })
}

interface Written extends Try {
  readonly body: string
  readonly at: number
  readonly traceHeaders: Readonly<Record<string, string>>
}

type Outcome = Pick<Exchange, 'response' | 'error'>

/** A request as people may see it, and its outcome. */
type Sent = Outcome & Pick<Exchange, 'headers'>

/** Sends the event in the form of the receiver. */
async function sendTo(deps: TryDeps, written: Written): Promise<Sent> {
  const { item, body, at, keys, notification, traceHeaders } = written
  const { type, url } = notification
  if (type === 'webhook') {
    const headers = {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      ...traceHeaders,
      ...signatureHeaders({ id: item.event.uid, at, body, keys }),
    }
    return { headers, ...(await send(deps, { url, headers, body })) }
  }
  const announcement = readAnnouncement(body, deps.publicUrl)
  if (announcement === undefined) return { headers: {}, error: NO_ANNOUNCEMENT }
  if (type === 'email') return { headers: {}, ...(await sendMail(deps, url, announcement)) }
  const { secretHeaders, ...request } = REQUESTS[type](announcement, { url, key: keys[0] ?? '' })
  const headers = { ...request.headers, ...secretHeaders }
  return { headers: request.headers, ...(await send(deps, { ...request, headers })) }
}

const NO_ANNOUNCEMENT = 'This receiver gets only alerts and tests.'
const NO_MAILER = 'The deployment has no RELAYER_SMTP_URL, so it sends no mails.'

async function sendMail(
  { mailer, timeoutMs }: TryDeps,
  url: string,
  announcement: Announcement,
): Promise<Outcome> {
  if (mailer === undefined) return { error: NO_MAILER }
  try {
    const mail = mailOf(announcement, recipientsOf(url) ?? [], mailer.settings.from)
    const { code, text } = await mailer.send(mail, timeoutMs)
    return { response: { code, headers: {}, body: text } }
  } catch (error) {
    return { error: `The mail was not sent: ${reasonOf(error)}.` }
  }
}

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

interface Evaluated {
  readonly item: Outgoing
  readonly at: number
  readonly url: string
  readonly exchange: Exchange
  readonly failsForLong: boolean
}

function evaluateTry(
  { clock, random }: TryDeps,
  { item, at, url, exchange, failsForLong }: Evaluated,
): TryResult {
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

/**
 * The first wait after a failure and the longest one, in ms. The wait doubles with each failure; a receiver
 * that is back would notice too late if it grew beyond an hour.
 */
export const BACKOFF = { baseMs: 5_000, maxMs: 3_600_000, jitter: 'equal' } as const

/**
 * At least this many attempts fail before a delivery is given up, regardless of the clock: they take 40 to 90
 * minutes, and a clock that jumps forward by a day ends nothing before that. The shortest window, an hour,
 * has as many, so a correct clock is not affected.
 */
export const LEAST_TRIES = 11

/** The decision after a failed try. */
type NextTry = { readonly kind: 'again'; readonly delayMs: number } | { readonly kind: 'never' }

interface Failure {
  /** The number of tries so far, this one included. */
  readonly tries: number
  readonly now: number
  /**
   * A failure after this time is the last, in ms since 1970, if `LEAST_TRIES` have failed, or the receiver
   * fails for long.
   */
  readonly giveUpAt: number
  /** The receiver has failed for everything for long, by a clock that does not step. */
  readonly failsForLong?: boolean
  /** The wait that the receiver requested, in ms. */
  readonly retryAfterMs?: number | undefined
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/**
 * Decides when to try again: never sooner than the receiver requested, and for the last time at `giveUpAt`.
 * Pure, except for `random`.
 */
export function nextTry({
  tries,
  now,
  giveUpAt,
  failsForLong = false,
  retryAfterMs = 0,
  random,
}: Failure): NextTry {
  if (now >= giveUpAt && (tries >= LEAST_TRIES || failsForLong)) return { kind: 'never' }
  const delay = Math.max(retryAfterMs, backoffMs(tries, { ...BACKOFF, random }))
  return { kind: 'again', delayMs: now >= giveUpAt ? delay : Math.min(delay, giveUpAt - now) }
}

interface Signed {
  /** The `uid` of the event: `webhook-id`. */
  readonly id: string
  /** The time of this try, in ms since the epoch. */
  readonly at: number
  /** The exact body. */
  readonly body: string
  /** Keys, newest first; empty for a notification that does not sign. */
  readonly keys: readonly string[]
}

/**
 * Creates the headers that authenticate a body. `X-Signature` is the base64 of HMAC-SHA256 over the body with
 * the UTF-8 bytes of the key. The headers of Standard Webhooks (github.com/standard-webhooks, "Signature
 * scheme") also sign the id and the time, so that a third party cannot replay an old request; their
 * `webhook-signature` can contain several signatures.
 */
export function signatureHeaders({ id, at, body, keys }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const [newest, previous] = keys.map((key) => hmac(key, body))
  const standard = keys.map((key) => `v1,${hmac(key, `${id}.${timestamp}.${body}`)}`)
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(standard.length > 0 && { 'webhook-signature': standard.join(' ') }),
    ...(newest !== undefined && { 'X-Signature': newest }),
    ...(previous !== undefined && { 'X-Signature-Previous': previous }),
  }
}

function hmac(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64')
}
