import { limitConcurrency } from '../../lib/concurrency/limit-concurrency.ts'
import { backoffMs, type Clock, withTimeout } from '../../lib/time.ts'
import { signerRefused, signerUnavailable } from '../signer.ts'
import { RemoteFault } from './remote-key.ts'

/** The limits of the calls to the service of one key. */
export interface CallLimits {
  /** The limit of one call, in ms. */
  readonly timeoutMs: number
  /** The calls that are under way at the same time. */
  readonly concurrency: number
  /** A failed call is retried at most this many times. Default: 4. */
  readonly repetitions?: number
}

interface CallerOptions extends CallLimits {
  readonly clock: Clock
  /** Names the key in messages. */
  readonly name: string
}

/** Calls the service of a key: repeats what may succeed, and translates the failure. */
export type Caller = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>

/** Throttling lasts for a second, and a broken connection for one call. */
const REPETITIONS = 4

/** No call is repeated after this time, in ms: the account waits for the step, which starts again later. */
const NO_REPETITION_AFTER_MS = 5_000

/**
 * A call that waited for its turn for this long, in ms, is not made: its caller has given up, and the service
 * answers too slowly for all.
 */
const MAX_QUEUE_MS = 10_000

/** The pauses between repetitions, in ms. */
const BACKOFF = { baseMs: 100, maxMs: 1_600, random: Math.random, jitter: 'equal' } as const

/** Creates the caller of one key. */
export function createCaller({
  clock,
  name,
  timeoutMs,
  concurrency,
  repetitions = REPETITIONS,
}: CallerOptions): Caller {
  const inTurn = limitConcurrency(concurrency)

  async function once<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController()
    try {
      // Libraries can ignore the signal, so the time-out does not depend on them.
      const answer = await withTimeout(
        clock,
        timeoutMs,
        work(over.signal).then((value) => ({ value })),
      )
      if (answer !== undefined) return answer.value
      throw new RemoteFault('unavailable', `did not answer within ${timeoutMs} ms`)
    } finally {
      over.abort()
    }
  }

  return async (work) => {
    const started = clock.monotonic()
    for (let repetition = 1; ; repetition += 1) {
      try {
        return await inTurn(() => {
          if (clock.monotonic() - started > MAX_QUEUE_MS)
            throw new RemoteFault('unavailable', 'has too many calls waiting for an answer')
          return once(work)
        })
      } catch (error) {
        const isOver = repetition > repetitions || clock.monotonic() - started > NO_REPETITION_AFTER_MS
        if (isOver || !mayRepeat(error)) throw translate(name, error)
      }
      await clock.sleep(backoffMs(repetition, BACKOFF))
    }
  }
}

function mayRepeat(error: unknown): boolean {
  return !(error instanceof RemoteFault) || error.kind !== 'refused'
}

function translate(name: string, error: unknown): Error {
  if (!(error instanceof RemoteFault)) return signerUnavailable(`${name} returned no usable response.`, error)
  const detail = `${name} ${error.message}.`
  return error.kind === 'refused' ? signerRefused(detail, error) : signerUnavailable(detail, error)
}
