import { backoffMs } from '../../lib/time/backoff.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { EndpointPool } from '../../networks/endpoints.ts'

/** One question goes through the whole pool this often. */
const ROUNDS = 3

/**
 * A question waits for no longer pause, in ms. An endpoint that demands a longer one gets it, and the question is answered with "unknown"
 * at once: workers repeat it, and API callers do not wait.
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
 * Yields the endpoints for one question in order, until the consumer stops: each once in a round, with a pause between rounds, and no pause
 * that would end after `deadline`. Endpoints in `excluded` are not tried again; the consumer may add to it.
 */
export function createEndpointIterator({ pool, clock, random }: EndpointIteratorOptions) {
  return async function* endpointsToTry(
    excluded: ReadonlySet<string>,
    deadline: number,
  ): AsyncGenerator<string, void> {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const tried = new Set<string>()
      while (clock.monotonic() < deadline) {
        const url = pool.choose(new Set([...tried, ...excluded]))
        if (url === undefined) break
        tried.add(url)
        yield url
      }
      // An endpoint that demands a pause gets it in full; the jitter comes on top. Without any endpoint left there is no further round.
      const wait = pool.waitMs(excluded)
      if (wait === undefined || round === ROUNDS) return
      const pause = wait + backoffMs(round, { ...BACKOFF, random })
      if (wait > MAX_PAUSE_MS || clock.monotonic() + pause >= deadline) return
      await clock.sleep(pause)
    }
  }
}
