import type { Fault } from '../../test/support/faulty-node.ts'
import type { Random } from '../../test/support/random.ts'

/** How a node behaves for a while. */
export type Conditions = 'calm' | 'lossy' | 'laggy' | 'busy' | 'mixed' | 'dead'

type Kind =
  | 'pass'
  | 'drop'
  | 'lose'
  | 'duplicate'
  | 'http_500'
  | 'http_429'
  | 'throttle'
  | 'delay'
  | 'lag'
  | 'fork'

/** How often each fault comes, as weights. */
const FAULTS: Readonly<Record<Conditions, Readonly<Partial<Record<Kind, number>>>>> = {
  calm: { pass: 1 },
  lossy: { pass: 5, drop: 2, lose: 2, duplicate: 1, delay: 2 },
  laggy: { pass: 4, lag: 3, fork: 3, delay: 1 },
  busy: { pass: 5, http_429: 2, throttle: 1, http_500: 2, delay: 1 },
  mixed: { pass: 8, drop: 1, lose: 1, duplicate: 1, http_500: 1, http_429: 1, delay: 1, lag: 1, fork: 1 },
  dead: { drop: 1 },
}

/** How often the conditions change to each, as weights. */
const WEATHERS: Readonly<Record<Conditions, number>> = {
  calm: 4,
  lossy: 3,
  laggy: 3,
  busy: 2,
  mixed: 4,
  dead: 1,
}

/** Draws the next conditions. */
export function drawConditions(random: Random): Conditions {
  return random.weighted(WEATHERS)
}

/** Longest delay of a request, in ms: long enough for others to overtake it, shorter than the RPC time-out. */
const MAX_DELAY_MS = 120

/**
 * Decides about requests: the n-th request of a method meets the same fault whatever the other methods do. Where nodes
 * cannot be on a fork, those that would be are behind.
 */
export function createConditions(
  random: Random,
  { maxLag, forks }: { readonly maxLag: number; readonly forks: boolean },
): { set(conditions: Conditions): void; faultOf(method: string): Fault } {
  const streams = new Map<string, Random>()
  let conditions: Conditions = 'calm'
  return {
    set: (next) => {
      conditions = next
    },
    faultOf: (method) => {
      const stream = streams.get(method) ?? random.fork(method)
      streams.set(method, stream)
      const drawn = stream.weighted(FAULTS[conditions] as Readonly<Record<Kind, number>>)
      const kind = drawn === 'fork' && !forks ? 'lag' : drawn
      const size = stream.next()
      if (kind === 'delay') return { kind, ms: Math.ceil(size * MAX_DELAY_MS) }
      if (kind === 'lag') return { kind, blocks: 1 + Math.floor(size * maxLag) }
      return kind
    },
  }
}
