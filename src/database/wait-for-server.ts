import { type Clock, systemClock } from '../lib/time.ts'
import type { Logger } from '../log.ts'
import { isRetryable } from './errors.ts'

/** The pause between two attempts, in ms. */
const PAUSE_MS = 500

/** The time between two log lines, in ms. */
const LOG_EVERY_MS = 5_000

interface WaitOptions {
  /** The time in ms after the first failure for which a server that cannot be reached is awaited; 0 for one attempt. */
  readonly waitMs: number
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
  readonly log: Logger
  readonly clock?: Clock
}

/**
 * Does work that needs the server, and repeats it while the server cannot be reached or the connection is lost: whatever starts the service often
 * starts its database at the same time. A lost connection does not tell whether the server did the work, so the work must be safe to repeat. Rejects with
 * the error of the last attempt, and at once with an error that time does not cure, such as a wrong password.
 */
export async function waitForServer<T>(
  work: () => Promise<T>,
  { waitMs, signal, log, clock = systemClock }: WaitOptions,
): Promise<T> {
  let end: number | undefined
  let logAt = 0
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const now = clock.now()
      end ??= now + waitMs
      if (!isRetryable(error) || now >= end || signal?.aborted) throw error
      if (now >= logAt) {
        log.warn(
          { err: error, seconds_left: Math.ceil((end - now) / 1000) },
          'database not reachable; retrying',
        )
        logAt = now + LOG_EVERY_MS
      }
      await clock.sleep(Math.min(PAUSE_MS, end - now), signal)
    }
  }
}
