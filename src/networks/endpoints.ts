import { smaller } from '../lib/bigint.ts'
import { type SeenHead, seeHead } from './head-age.ts'
import type { RpcUrl } from './network.ts'

/** The state of one endpoint, for people and for readiness. */
export interface EndpointState {
  readonly url: string
  readonly healthy: boolean
  /** It has not been used yet, so its health is an assumption. */
  readonly neverAsked?: true
  /** The height of the newest block that it reported. */
  readonly head?: bigint
  /** The endpoint gets no request for this time, in ms. */
  readonly restsForMs?: number
  readonly lastError?: string
}

/**
 * The endpoints of one network: it chooses the next one and records their health. It sends no request itself.
 */
export interface EndpointPool {
  /**
   * Chooses the endpoint for a request, other than `except`; undefined if no endpoint may be used now. The
   * choice is stable for a while, so that the reads of one step see one node. A paused endpoint is the last
   * resort.
   */
  choose(except: ReadonlySet<string>): string | undefined
  /** Returns true if the reply brings the endpoint back into use. */
  answered(url: string): boolean
  /** Returns true if the failure takes the endpoint out of use: it rests from now on. */
  failed(url: string, failure: Failure): boolean
  /** Records a request whose outcome says nothing about the endpoint's health. */
  notCounted(url: string): void
  sawHead(url: string, height: bigint): void
  /**
   * Returns the highest block that endpoints reported lately; undefined if none did. One of three or more
   * that names a block which the others cannot have reached since they answered does not count, so that it
   * makes none of them late.
   */
  highest(): bigint | undefined
  /** Returns the newest head of all endpoints, and since when they report it; undefined if none did yet. */
  seenHead(): SeenHead | undefined
  /**
   * Returns the time until an endpoint other than `except` may be used, in ms; undefined if there is no
   * other.
   */
  waitMs(except: ReadonlySet<string>): number | undefined
  /** Returns the endpoints that are not resting. */
  awake(): string[]
  states(): EndpointState[]
}

interface EndpointPoolOptions {
  /** Each url gets a share in proportion to its weight; a URL with weight 0 gets none. */
  readonly urls: readonly RpcUrl[]
  /** Expected time between blocks, in ms. */
  readonly blocktimeMs: number
  /** Milliseconds of a clock that never steps. */
  readonly now: () => number
  /** Returns a number from 0 up to but not including 1. */
  readonly random: () => number
}

/**
 * A choice lasts for this long, in ms: long enough for any step, and short enough for the shares and for
 * endpoints that return.
 */
const HOLD_MS = 30_000

/**
 * The pool requires a reported height of every endpoint for this long, in ms. Several nodes can serve one
 * url, so the height outlives a lower answer of the same url. Without a limit, a chain that really is rolled
 * back would stop the service.
 */
const HEIGHT_MS = 60_000

interface Endpoint extends RpcUrl {
  health: Health
  /** A test request is under way. */
  onTrial: boolean
  /** It has answered or failed once. */
  asked: boolean
  head?: bigint
  highest?: { readonly height: bigint; readonly at: number }
}

/** Creates a pool of healthy endpoints. */
export function createEndpointPool({ urls, blocktimeMs, now, random }: EndpointPoolOptions): EndpointPool {
  const endpoints = urls
    .filter(({ weight }) => weight > 0)
    .map((url): Endpoint => ({ ...url, health: HEALTHY, onTrial: false, asked: false }))
  const find = (url: string) => endpoints.find((endpoint) => endpoint.url === url)
  const others = (except: ReadonlySet<string>) => endpoints.filter(({ url }) => !except.has(url))
  let seen: SeenHead | undefined
  let chosen: { readonly url: string; readonly until: number } | undefined

  function pick(except: ReadonlySet<string>): Endpoint | undefined {
    const good = others(except).filter((endpoint) => isUsable(endpoint, now()))
    const same = good.find(({ url }) => url === chosen?.url)
    if (same && chosen && chosen.until > now()) return same
    const drawn = draw(good, random())
    if (drawn) chosen = { url: drawn.url, until: now() + HOLD_MS }
    return drawn ?? lastResort(others(except), now())
  }

  /** Returns true if the endpoint is in use now and was not before, or the other way round. */
  function record(url: string, change: (health: Health, at: number) => Health): boolean {
    const endpoint = find(url)
    if (!endpoint) return false
    const wasInUse = endpoint.health.rests === 0
    endpoint.health = change(endpoint.health, now())
    endpoint.onTrial = false
    endpoint.asked = true
    return wasInUse !== (endpoint.health.rests === 0)
  }

  return {
    choose: (except) => {
      const endpoint = pick(except)
      if (endpoint && conditionOf(endpoint.health, now()) === 'trial') endpoint.onTrial = true
      return endpoint?.url
    },
    answered: (url) => record(url, afterAnswer),
    failed: (url, failure) => {
      if (chosen?.url === url) chosen = undefined
      return record(url, (health, at) => afterFailure(health, failure, at))
    },
    notCounted: (url) => {
      const endpoint = find(url)
      if (endpoint) endpoint.onTrial = false
    },
    sawHead: (url, height) => {
      const endpoint = find(url)
      if (endpoint === undefined) return
      note(endpoint, height, { endpoints, now: now(), blocktimeMs })
      // A height above the agreed one is one endpoint's word so far.
      const agreed = highestOf(endpoints, now(), blocktimeMs) ?? height
      seen = seeHead(seen, smaller(height, agreed), now())
    },
    highest: () => highestOf(endpoints, now(), blocktimeMs),
    seenHead: () => seen,
    waitMs: (except) => {
      const waits = others(except).map((endpoint) => untilAskable(endpoint, now()))
      return waits.length === 0 ? undefined : Math.min(...waits)
    },
    awake: () =>
      endpoints.filter(({ health }) => conditionOf(health, now()) !== 'resting').map(({ url }) => url),
    states: () => endpoints.map((endpoint) => stateOf(endpoint, now())),
  }
}

function isUsable({ health, onTrial }: Endpoint, now: number): boolean {
  const condition = conditionOf(health, now)
  return condition === 'well' || (condition === 'trial' && !onTrial)
}

/**
 * Returns the time until any request is possible, in ms. Only a pause that the endpoint requested prevents
 * one.
 */
function untilAskable({ health }: Endpoint, now: number): number {
  return health.byWish ? Math.max(0, health.restsUntil - now) : 0
}

/** Returns the endpoint whose pause ends first, unless the endpoint requested the pause. */
function lastResort(endpoints: readonly Endpoint[], now: number): Endpoint | undefined {
  const askable = endpoints.filter((endpoint) => untilAskable(endpoint, now) === 0)
  return askable.sort((a, b) => a.health.restsUntil - b.health.restsUntil)[0]
}

/** Draws an endpoint in proportion to the weights; `random` is from 0 to 1. */
function draw(endpoints: readonly Endpoint[], random: number): Endpoint | undefined {
  let point = random * endpoints.reduce((sum, { weight }) => sum + weight, 0)
  return endpoints.find(({ weight }) => {
    point -= weight
    return point < 0
  })
}

/**
 * Adds a reported height. A jump that neither the endpoint nor another one can have made since its last
 * report counts for nothing, until that report is too old (`HEIGHT_MS`).
 */
function note(endpoint: Endpoint, height: bigint, { endpoints, now, blocktimeMs }: Reported): void {
  endpoint.head = height
  const before = reportOf(endpoint, now)
  const reports = endpoints.flatMap((one) => reportOf(one, now) ?? [])
  const isJump = () => !reports.some((report) => height <= reachable(report, now, blocktimeMs))
  if (before !== undefined && endpoints.length > 1 && isJump()) return
  if (before === undefined || height >= before.height) endpoint.highest = { height, at: now }
}

interface Reported {
  readonly endpoints: readonly Endpoint[]
  readonly now: number
  readonly blocktimeMs: number
}

/** A height, and the time at which an endpoint reported it. */
type Report = NonNullable<Endpoint['highest']>

function reportOf({ highest }: Endpoint, now: number): Report | undefined {
  return highest !== undefined && now - highest.at < HEIGHT_MS ? highest : undefined
}

/**
 * A chain may be this much faster than its block time, in percent, and this many blocks ahead at once. With
 * less, a fast chain queries all endpoints more often; with more, one endpoint can lead the others by as many
 * blocks.
 */
const LEAD_PERCENT = 150
const LEAD_BLOCKS = 3

/** Returns the highest block that the chain can have now, if it had the reported one then. */
function reachable({ height, at }: Report, now: number, blocktimeMs: number): bigint {
  return height + BigInt(Math.ceil(((now - at) * LEAD_PERCENT) / 100 / blocktimeMs) + LEAD_BLOCKS)
}

/**
 * Two endpoints that contradict each other are a tie: the higher one counts then, because one that stands
 * still would stop the network.
 */
function highestOf(endpoints: readonly Endpoint[], now: number, blocktimeMs: number): bigint | undefined {
  const [first, ...others] = endpoints
    .flatMap((endpoint) => reportOf(endpoint, now) ?? [])
    .toSorted((one, other) => (one.height > other.height ? -1 : 1))
  if (first === undefined || others.length < 2) return first?.height
  const isReachable = others.some((report) => first.height <= reachable(report, now, blocktimeMs))
  return isReachable ? first.height : others[0]?.height
}

function stateOf({ url, health, head, asked }: Endpoint, now: number): EndpointState {
  const resting = conditionOf(health, now) === 'resting'
  return {
    url,
    healthy: conditionOf(health, now) === 'well',
    ...(asked ? {} : { neverAsked: true }),
    ...(head === undefined ? {} : { head }),
    ...(resting ? { restsForMs: health.restsUntil - now } : {}),
    ...(health.lastError === undefined ? {} : { lastError: health.lastError }),
  }
}

/**
 * A failure of an endpoint. `down`: broken connection, HTTP 5xx, unreadable answer · `slow`: no answer in
 * time · `barred`: it refuses us (HTTP 401, 403, 404, 410) · `limited`: it requested a pause (HTTP 429 and
 * similar answers).
 */
export interface Failure {
  readonly kind: 'down' | 'slow' | 'barred' | 'limited'
  readonly detail: string
  /** The pause that the endpoint requested (`Retry-After`), in ms. */
  readonly retryAfterMs?: number
  /** No connection opened, so the request cannot be the cause. */
  readonly unreachable?: true
}

/** Failures within this time count together, in ms. */
const WINDOW_MS = 60_000

/** The endpoint rests after this many failures within the window; a single failure is noise. */
const FAILURE_LIMIT = 3

/** The first rest, in ms; each failed trial doubles the next one. */
const REST_MS = 5_000

/**
 * The first and the longest pause of an endpoint that requested one without a duration, in ms. Most limits
 * are per second, and a network with only this endpoint stops in the meantime.
 */
const LIMITED_REST_MS = 1_000
const MAX_LIMITED_REST_MS = 8_000

/**
 * The longest pause, in ms, regardless of `Retry-After`: a wrong header must not switch an endpoint off for a
 * day.
 */
const MAX_REST_MS = 300_000

/** The record of one endpoint. It is a value: each report makes a new one. */
export interface Health {
  /** The times of recent failures, in ms of the monotonic clock. */
  readonly failures: readonly number[]
  /** The endpoint gets no request before this time, in ms of the monotonic clock. */
  readonly restsUntil: number
  /** The endpoint requested the pause, so it gets no request even as a last resort. */
  readonly byWish: boolean
  /** The number of rests since its last good answer. Above 0 after a rest, the endpoint is on trial. */
  readonly rests: number
  readonly lastError?: string
}

/** The record of an endpoint without failures. */
export const HEALTHY: Health = { failures: [], restsUntil: 0, byWish: false, rests: 0 }

/** `trial`: the pause is over, and one request at a time tests the endpoint. */
type Condition = 'well' | 'trial' | 'resting'

/** Decides whether the endpoint may be used now. */
export function conditionOf({ restsUntil, rests }: Health, now: number): Condition {
  if (now < restsUntil) return 'resting'
  return rests > 0 ? 'trial' : 'well'
}

/**
 * Records an answer. Failures within the window still count, or an endpoint that fails half of the time would
 * never rest.
 */
export function afterAnswer(health: Health, now: number): Health {
  return conditionOf(health, now) === 'well' ? health : HEALTHY
}

/**
 * Records a failure. A timeout or refused connection opens the circuit at once; every further one would use
 * up a caller's whole deadline.
 */
export function afterFailure(health: Health, failure: Failure, now: number): Health {
  const failures = [...health.failures.filter((at) => now - at < WINDOW_MS), now]
  const failed = { ...health, failures, lastError: failure.detail }
  const rest = failure.kind !== 'down' || failures.length >= FAILURE_LIMIT || health.rests > 0
  if (!rest) return failed
  const byWish = failure.kind === 'limited' || failure.retryAfterMs !== undefined
  // Concurrent requests fail together, so only a failure after a rest makes the next rest longer.
  const rests = conditionOf(health, now) === 'resting' ? health.rests : health.rests + 1
  const factor = 2 ** Math.min(rests - 1, 16)
  const grown = byWish ? Math.min(MAX_LIMITED_REST_MS, LIMITED_REST_MS * factor) : REST_MS * factor
  const ms = Math.min(MAX_REST_MS, failure.retryAfterMs ?? grown)
  return {
    ...failed,
    rests,
    restsUntil: Math.max(health.restsUntil, now + ms),
    byWish: byWish || (health.byWish && now < health.restsUntil),
  }
}
