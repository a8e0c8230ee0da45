import { omitUndefined } from '../lib/omit-undefined.ts'
import type { Finding } from './alert.ts'

/** An endpoint has to be down, or up, for this long without a break, in ms, before that counts. */
export const SETTLED_MS = 60_000

/** An endpoint at one moment. */
export interface EndpointSample {
  /** By type and name. */
  readonly network: string
  /** The url without the part in which providers put their keys. Several urls can share it; they count as one. */
  readonly endpoint: string
  /** Undefined until the endpoint was asked for the first time. */
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

/** Adds samples to the memory. Endpoints that nobody uses any more are forgotten. Pure. */
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

interface Look {
  readonly samples: readonly EndpointSample[]
  readonly memory: EndpointMemory
  /** The time in ms of the monotonic clock. */
  readonly monotonic: number
  readonly now: Date
}

/** Finds the endpoints that have been down, or up again, for long enough. Pure. */
export function findDownEndpoints({ samples, memory, monotonic, now }: Look): Finding[] {
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
      detail: { message: describe(sample, isDown), network: sample.network, endpoint: sample.endpoint },
    })
  })
}

function describe({ network, endpoint }: EndpointSample, isDown: boolean): string {
  return isDown
    ? `Endpoint ${endpoint} of network ${network} has not been usable for ${SETTLED_MS / 1000} s. Ask its provider, or replace its url.`
    : `Endpoint ${endpoint} of network ${network} is usable again.`
}

/** Names an endpoint among all of its network. */
export function subjectOf({ network, endpoint }: Pick<EndpointSample, 'network' | 'endpoint'>): string {
  return `${network} ${endpoint}`
}
