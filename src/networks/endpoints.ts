import {
  afterAnswer,
  afterFailure,
  conditionOf,
  type Failure,
  HEALTHY,
  type Health,
} from './endpoint-health.ts'
import type { RpcUrl } from './network.ts'

/** How one endpoint is doing, for people and for readiness. */
export interface EndpointState {
  readonly url: string
  readonly healthy: boolean
  /** Height of the newest block that it told of. */
  readonly head?: bigint
  /** Until then it is left alone. */
  readonly restsUntil?: Date
  readonly lastError?: string
}

/** The endpoints of one network: which to ask next, and how each has been doing. Asks nobody itself. */
export interface EndpointPool {
  /**
   * The endpoint to ask, other than `except`; undefined when there is none that may be asked now. The same one again and
   * again for a while, so that the reads of one step see one node; resting ones only when no other is left.
   */
  choose(except: ReadonlySet<string>): string | undefined
  answered(url: string): void
  failed(url: string, failure: Failure): void
  sawHead(url: string, height: bigint): void
  /** The next choice is drawn anew: the present one is behind. */
  turnAway(url: string): void
  /** The highest block that any endpoint told of lately; undefined when none did. */
  highest(): bigint | undefined
  /** Time until one other than `except` may be asked, in ms: 0 for now; undefined when there is no other. */
  waitMs(except: ReadonlySet<string>): number | undefined
  /** Those that are not resting. */
  awake(): string[]
  states(): EndpointState[]
}

interface EndpointPoolOptions {
  /** Weight 0 is never asked; of the others each gets the share of its weight. */
  readonly urls: readonly RpcUrl[]
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** From 0 up to but not including 1. */
  readonly random: () => number
}

/** How long one choice holds, in ms. Long enough for any step; short enough that the shares come out and rested ones return. */
const HOLD_MS = 30_000

/**
 * How long a height that somebody told of is demanded of the others, in ms. Behind one url may stand several nodes, so it
 * outlives a lower answer of the same url; for ever would stop us when a chain really is rolled back.
 */
const HEIGHT_MS = 60_000

interface Endpoint extends RpcUrl {
  health: Health
  /** A request that finds out whether it is well again is under way. */
  onTrial: boolean
  head?: bigint
  highest?: { readonly height: bigint; readonly at: number }
}

/** A pool that knows nothing bad of anybody yet. */
export function createEndpointPool({ urls, now, random }: EndpointPoolOptions): EndpointPool {
  const endpoints = urls
    .filter(({ weight }) => weight > 0)
    .map((url): Endpoint => ({ ...url, health: HEALTHY, onTrial: false }))
  const byUrl = new Map(endpoints.map((endpoint) => [endpoint.url, endpoint]))
  let held: { readonly url: string; readonly until: number } | undefined

  const condition = ({ health }: Endpoint) => conditionOf(health, now())
  const usable = (endpoint: Endpoint) =>
    condition(endpoint) === 'well' || (condition(endpoint) === 'trial' && !endpoint.onTrial)
  const mayBeAsked = (endpoint: Endpoint) => condition(endpoint) !== 'resting' || !endpoint.health.byWish

  function change(url: string, update: (endpoint: Endpoint) => void) {
    const endpoint = byUrl.get(url)
    if (endpoint) update(endpoint)
  }

  function letGo(url: string) {
    if (held?.url === url) held = undefined
  }

  function pick(except: ReadonlySet<string>): Endpoint | undefined {
    const others = endpoints.filter(({ url }) => !except.has(url))
    const good = others.filter(usable)
    const same =
      held !== undefined && held.until > now() ? good.find(({ url }) => url === held?.url) : undefined
    if (same) return same
    const drawn = draw(good, random())
    if (drawn) {
      held = { url: drawn.url, until: now() + HOLD_MS }
      return drawn
    }
    const last = others.filter(mayBeAsked).sort((a, b) => a.health.restsUntil - b.health.restsUntil)
    return last[0]
  }

  return {
    choose: (except) => {
      const endpoint = pick(except)
      if (endpoint && condition(endpoint) === 'trial') endpoint.onTrial = true
      return endpoint?.url
    },
    answered: (url) =>
      change(url, (endpoint) => {
        endpoint.health = afterAnswer(endpoint.health, now())
        endpoint.onTrial = false
      }),
    failed: (url, failure) =>
      change(url, (endpoint) => {
        endpoint.health = afterFailure(endpoint.health, failure, now())
        endpoint.onTrial = false
        letGo(url)
      }),
    sawHead: (url, height) =>
      change(url, (endpoint) => {
        endpoint.head = height
        const before = recent(endpoint, now())
        if (before === undefined || height >= before) endpoint.highest = { height, at: now() }
      }),
    turnAway: letGo,
    highest: () =>
      endpoints
        .map((endpoint) => recent(endpoint, now()))
        .reduce((top, height) => (top === undefined || (height ?? 0n) > top ? height : top), undefined),
    waitMs: (except) => {
      const waits = endpoints
        .filter(({ url }) => !except.has(url))
        .map((endpoint) => (mayBeAsked(endpoint) ? 0 : endpoint.health.restsUntil - now()))
      return waits.length === 0 ? undefined : Math.min(...waits)
    },
    awake: () => endpoints.filter((endpoint) => condition(endpoint) !== 'resting').map(({ url }) => url),
    states: () => endpoints.map((endpoint) => stateOf(endpoint, now())),
  }
}

/** Each gets the part of 0 … 1 that its weight is of all weights. */
function draw(endpoints: readonly Endpoint[], random: number): Endpoint | undefined {
  let point = random * endpoints.reduce((sum, { weight }) => sum + weight, 0)
  return endpoints.find(({ weight }) => {
    point -= weight
    return point < 0
  })
}

function recent({ highest }: Endpoint, now: number): bigint | undefined {
  return highest !== undefined && now - highest.at < HEIGHT_MS ? highest.height : undefined
}

function stateOf({ url, health, head }: Endpoint, now: number): EndpointState {
  const resting = conditionOf(health, now) === 'resting'
  return {
    url,
    healthy: conditionOf(health, now) === 'well',
    ...(head === undefined ? {} : { head }),
    ...(resting ? { restsUntil: new Date(health.restsUntil) } : {}),
    ...(health.lastError === undefined ? {} : { lastError: health.lastError }),
  }
}
