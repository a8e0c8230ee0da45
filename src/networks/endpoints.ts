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
  /** It was asked, and the outcome says nothing about its health. */
  notCounted(url: string): void
  sawHead(url: string, height: bigint): void
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
  const find = (url: string) => endpoints.find((endpoint) => endpoint.url === url)
  const others = (except: ReadonlySet<string>) => endpoints.filter(({ url }) => !except.has(url))
  let held: { readonly url: string; readonly until: number } | undefined

  function pick(except: ReadonlySet<string>): Endpoint | undefined {
    const good = others(except).filter((endpoint) => isUsable(endpoint, now()))
    const same = good.find(({ url }) => url === held?.url)
    if (same && held && held.until > now()) return same
    const drawn = draw(good, random())
    if (drawn) held = { url: drawn.url, until: now() + HOLD_MS }
    return drawn ?? lastResort(others(except), now())
  }

  function settle(url: string, change: (health: Health, at: number) => Health) {
    const endpoint = find(url)
    if (!endpoint) return
    endpoint.health = change(endpoint.health, now())
    endpoint.onTrial = false
  }

  return {
    choose: (except) => {
      const endpoint = pick(except)
      if (endpoint && conditionOf(endpoint.health, now()) === 'trial') endpoint.onTrial = true
      return endpoint?.url
    },
    answered: (url) => settle(url, afterAnswer),
    failed: (url, failure) => {
      settle(url, (health, at) => afterFailure(health, failure, at))
      if (held?.url === url) held = undefined
    },
    notCounted: (url) => settle(url, (health) => health),
    sawHead: (url, height) => note(find(url), height, now()),
    highest: () => highestOf(endpoints, now()),
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

/** Time until it may be asked at all, in ms. Only a rest by its own wish is in the way, not one that we ordered. */
function untilAskable({ health }: Endpoint, now: number): number {
  return health.byWish ? Math.max(0, health.restsUntil - now) : 0
}

/** The one whose rest ends first; none that asked to be left alone. */
function lastResort(endpoints: readonly Endpoint[], now: number): Endpoint | undefined {
  const askable = endpoints.filter((endpoint) => untilAskable(endpoint, now) === 0)
  return askable.sort((a, b) => a.health.restsUntil - b.health.restsUntil)[0]
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

function note(endpoint: Endpoint | undefined, height: bigint, now: number): void {
  if (!endpoint) return
  endpoint.head = height
  const before = recent(endpoint, now)
  if (before === undefined || height >= before) endpoint.highest = { height, at: now }
}

function highestOf(endpoints: readonly Endpoint[], now: number): bigint | undefined {
  const heights = endpoints.map((endpoint) => recent(endpoint, now)).filter((height) => height !== undefined)
  return heights.reduce<bigint | undefined>(
    (top, height) => (top === undefined || height > top ? height : top),
    undefined,
  )
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
