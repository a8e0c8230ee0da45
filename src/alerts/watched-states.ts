import { haltedAfterMs } from '../networks/head-age.ts'
import { networkId } from '../networks/network.ts'
import type { AlertKey } from './alert.ts'
import { type EndpointMemory, type EndpointSample, SETTLED_MS, subjectOf } from './endpoints.ts'
import type { HeadSample } from './halted-chains.ts'

/**
 * A state that makes an alert begin, or end, when it lasts. It is stored while it lasts, so that a process that was started anew goes on
 * counting: a service that ends again and again would otherwise never tell.
 */
export interface WatchedState extends AlertKey {
  /** `down` or `up` for an endpoint, the height in decimal digits for a head. */
  readonly state: string
  readonly since: Date
  /** It was seen last at this time. */
  readonly seenAt: Date
}

/** Once this process has seen a block come, a head that stands still for less than this, in ms, is not stored: most networks are that quiet now and then. */
const STANDING_MS = 10_000

interface Look {
  readonly stored: readonly WatchedState[]
  readonly now: Date
}

/**
 * Gives a period that this process has only begun to see the beginning that was stored, if nobody looked for less than the time that counts as
 * settled. `monotonic` is `now` in ms of the monotonic clock. Pure.
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

/** Gives heads that an earlier process saw at the same height the time for which they have really stood still. Pure. */
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
 * Selects the states to store: endpoints that are down, those that were and are not back for good, and heads that stand still. What nobody
 * knows now stays as it is stored. Usually there are none, and nothing is written. Pure.
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
