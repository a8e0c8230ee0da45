import { backoffMs } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import type { EndpointPool } from '../../networks/endpoints.ts'

/** How often the whole pool is gone through for one question. */
const ROUNDS = 3

/**
 * The longest pause that a question waits for, in ms. Whoever asked for more gets it, and the asker hears "unknown" at once:
 * workers come back by themselves, and a caller of the API is not kept waiting.
 */
const MAX_PAUSE_MS = 2_000

/** The longest first pause between two rounds, and the limit of its growth, in ms. */
const BACKOFF = { baseMs: 100, maxMs: MAX_PAUSE_MS }

interface EndpointIteratorOptions {
  readonly pool: EndpointPool
  readonly clock: Clock
  readonly random: () => number
}

/**
 * The endpoints to ask for one question, one after the other, until the asker stops: each once in a round, a pause
 * between two rounds, and no pause that would end behind `deadline`. An endpoint in `given` is not visited again; the
 * asker may add to it.
 */
export function createEndpointIterator({ pool, clock, random }: EndpointIteratorOptions) {
  return async function* endpointsToTry(
    excluded: ReadonlySet<string>,
    deadline: number,
  ): AsyncGenerator<string, void> {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const tried = new Set<string>()
      while (clock.now() < deadline) {
        const url = pool.choose(new Set([...tried, ...excluded]))
        if (url === undefined) break
        tried.add(url)
        yield url
      }
      // Who asked for a pause gets it in full; the jitter comes on top. Without anybody left there is no further round.
      const wait = pool.waitMs(excluded)
      if (wait === undefined || round === ROUNDS) return
      const pause = wait + backoffMs(round, { ...BACKOFF, random })
      if (wait > MAX_PAUSE_MS || clock.now() + pause >= deadline) return
      await clock.sleep(pause)
    }
  }
}
