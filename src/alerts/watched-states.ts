import { omitUndefined } from '../lib/object.ts'
import { type HeadState, haltedAfterMs } from '../networks/head-age.ts'
import { type Network, networkId } from '../networks/network.ts'
import type { AlertKey, Finding } from './alert.ts'

/** An endpoint has to be down, or up, for this long without a break, in ms, before that counts. */
const SETTLED_MS = 60_000

/** An endpoint at one moment. */
export interface EndpointSample {
  /** By type and name. */
  readonly network: string
  /**
   * The url without the part in which providers put their keys. Several urls can share it; they count as one.
   */
  readonly endpoint: string
  /** Undefined until the endpoint was first used. */
  readonly isUsable: boolean | undefined
  /** The notifications of the relayers that use it. */
  readonly notifications: readonly string[]
}

interface Period {
  readonly isUsable: boolean
  /** The time when it began, in ms of the monotonic clock. */
  readonly since: number
}

/** Since when each endpoint is usable or not. */
export type EndpointMemory = ReadonlyMap<string, Period>

/** Adds samples to the history. Endpoints that are no longer used are dropped. Pure. */
export function rememberEndpoints(
  memory: EndpointMemory,
  samples: readonly EndpointSample[],
  now: number,
): EndpointMemory {
  return new Map(
    samples.flatMap((sample) => {
      const subject = subjectOf(sample)
      const before = memory.get(subject)
      const { isUsable = before?.isUsable } = sample
      if (isUsable === undefined) return []
      const period = before?.isUsable === isUsable ? before : { isUsable, since: now }
      return [[subject, period] as const]
    }),
  )
}

interface EndpointLook {
  readonly samples: readonly EndpointSample[]
  readonly memory: EndpointMemory
  /** The time in ms of the monotonic clock. */
  readonly monotonic: number
  readonly now: Date
}

/** Finds the endpoints that have been down, or up again, for long enough. Pure. */
export function findDownEndpoints({ samples, memory, monotonic, now }: EndpointLook): Finding[] {
  return samples.map((sample) => {
    const period = memory.get(subjectOf(sample))
    const lasted = period === undefined ? 0 : monotonic - period.since
    const isSettled = period !== undefined && lasted >= SETTLED_MS
    const isDown = isSettled && !period.isUsable
    return omitUndefined({
      kind: 'endpoint_down' as const,
      subject: subjectOf(sample),
      state: isDown ? ('firing' as const) : isSettled ? ('over' as const) : ('unclear' as const),
      since: isDown ? new Date(now.getTime() - lasted) : undefined,
      notifications: sample.notifications,
      detail: {
        message: describeEndpoint(sample, isDown),
        network: sample.network,
        endpoint: sample.endpoint,
      },
    })
  })
}

function describeEndpoint({ network, endpoint }: EndpointSample, isDown: boolean): string {
  return isDown
    ? `Endpoint ${endpoint} of network ${network} has not been usable for ${SETTLED_MS / 1000} s. Contact its provider, or replace its URL.`
    : `Endpoint ${endpoint} of network ${network} is usable again.`
}

/** Names an endpoint among all of its network. */
function subjectOf({ network, endpoint }: Pick<EndpointSample, 'network' | 'endpoint'>): string {
  return `${network} ${endpoint}`
}

/** A network at one moment. */
export interface HeadSample {
  readonly network: Network
  /** The newest head; undefined if no endpoint has reported it recently. */
  readonly state: HeadState | undefined
  /** This process has seen the network make a block, so an alert of an earlier process can end. */
  readonly advanced: boolean
  /** The notifications of the relayers on it. */
  readonly notifications: readonly string[]
}

/** Finds the networks that have made no block for longer than their normal pauses. Pure. */
export function findHaltedChains(samples: readonly HeadSample[], now: Date): Finding[] {
  return samples.flatMap((sample) => {
    const limitMs = haltedAfterMs(sample.network)
    return limitMs === undefined ? [] : [evaluateHead(sample, limitMs, now)]
  })
}

function evaluateHead(
  { network, state, advanced, notifications }: HeadSample,
  limitMs: number,
  now: Date,
): Finding {
  const id = networkId(network)
  const ageMs = state?.ageMs ?? 0
  const isHalted = state?.halted === true
  return {
    kind: 'chain_halted',
    subject: id,
    state: isHalted ? 'firing' : state !== undefined && advanced ? 'over' : 'unclear',
    since: isHalted ? new Date(now.getTime() - ageMs) : undefined,
    notifications,
    detail: {
      message: isHalted
        ? `Network ${id} has made no block after ${state.number} for ${seconds(ageMs)} s. Transactions wait for the next one. Compare with an explorer: if it shows newer blocks, replace the endpoints.`
        : `Network ${id} makes blocks again.`,
      network: id,
      value: String(seconds(ageMs)),
      threshold: String(seconds(limitMs)),
    },
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1_000)
}

/**
 * A state that makes an alert begin, or end, when it lasts. It is stored while it lasts, so that a restarted
 * process keeps counting: a service that keeps restarting would otherwise never announce it.
 */
export interface WatchedState extends AlertKey {
  /** `down` or `up` for an endpoint, the height in decimal digits for a head. */
  readonly state: string
  readonly since: Date
  /** It was seen last at this time. */
  readonly seenAt: Date
}

/**
 * Once this process has seen a new block, a head that is unchanged for less than this, in ms, is not stored:
 * most networks are sometimes that quiet.
 */
const STANDING_MS = 10_000

interface Look {
  readonly stored: readonly WatchedState[]
  readonly now: Date
}

/**
 * Gives a period that this process has only begun to observe its stored beginning, if the gap in observation
 * is shorter than the settling time. `monotonic` is `now` in ms of the monotonic clock. Pure.
 */
export function continuePeriods(
  memory: EndpointMemory,
  { stored, now, monotonic }: Look & { readonly monotonic: number },
): EndpointMemory {
  const before = new Map(stored.filter(isEndpoint).map((one) => [one.subject, one]))
  return new Map(
    [...memory].map(([subject, period]) => {
      const known = before.get(subject)
      const began = now.getTime() - (monotonic - period.since)
      const isSame = known?.state === nameOf(period.isUsable)
      if (!isSame || began - known.seenAt.getTime() > SETTLED_MS) return [subject, period]
      const lastedMs = Math.max(0, now.getTime() - known.since.getTime())
      return [subject, { ...period, since: Math.min(period.since, monotonic - lastedMs) }]
    }),
  )
}

/**
 * Gives heads that an earlier process saw at the same height the time for which they have really been
 * unchanged. Pure.
 */
export function continueHeads(heads: readonly HeadSample[], { stored, now }: Look): HeadSample[] {
  const before = new Map(stored.filter((one) => !isEndpoint(one)).map((one) => [one.subject, one]))
  return heads.map((sample) => {
    const { network, state } = sample
    const known = before.get(networkId(network))
    if (state === undefined || known?.state !== String(state.number)) return sample
    const ageMs = Math.max(state.ageMs, now.getTime() - known.since.getTime())
    const limitMs = haltedAfterMs(network)
    return { ...sample, state: { ...state, ageMs, halted: limitMs !== undefined && ageMs >= limitMs } }
  })
}

interface Watched {
  readonly samples: readonly EndpointSample[]
  readonly memory: EndpointMemory
  readonly heads: readonly HeadSample[]
  readonly stored: readonly WatchedState[]
  readonly monotonic: number
  readonly now: Date
}

/**
 * Selects the states to store: endpoints that are down, those that were and have not settled yet, and heads
 * that do not move. Unknown states stay as stored. Usually there are none, and nothing is written. Pure.
 */
export function statesToStore({ samples, memory, heads, stored, monotonic, now }: Watched): WatchedState[] {
  const before = new Map(stored.map((one) => [`${one.kind} ${one.subject}`, one]))
  const endpoints = samples.flatMap((sample): WatchedState[] => {
    const subject = subjectOf(sample)
    const known = before.get(`endpoint_down ${subject}`)
    const period = memory.get(subject)
    if (period === undefined) return known ? [known] : []
    const lastedMs = monotonic - period.since
    if (period.isUsable && (known === undefined || lastedMs >= SETTLED_MS)) return []
    const since = new Date(now.getTime() - lastedMs)
    return [{ kind: 'endpoint_down', subject, state: nameOf(period.isUsable), since, seenAt: now }]
  })
  const standing = heads.flatMap(({ network, state, advanced }): WatchedState[] => {
    const subject = networkId(network)
    const known = before.get(`chain_halted ${subject}`)
    if (state === undefined) return known ? [known] : []
    const isQuiet = advanced && state.ageMs < STANDING_MS
    if (haltedAfterMs(network) === undefined || isQuiet) return []
    const since = new Date(now.getTime() - state.ageMs)
    return [{ kind: 'chain_halted', subject, state: String(state.number), since, seenAt: now }]
  })
  return [...endpoints, ...standing]
}

function isEndpoint({ kind }: WatchedState): boolean {
  return kind === 'endpoint_down'
}

function nameOf(isUsable: boolean): string {
  return isUsable ? 'up' : 'down'
}
