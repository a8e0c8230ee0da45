import { type Clock, systemClock } from '../../lib/time/clock.ts'
import type { Logger } from '../../log.ts'
import { isRetryable } from '../errors.ts'

/** The pause between two attempts, in ms. */
const PAUSE_MS = 500

/** The time between two log lines, in ms. */
const LOG_EVERY_MS = 5_000

interface WaitOptions {
  /** The time in ms after which a server that cannot be reached is a failure; 0 for one attempt. */
  readonly waitMs: number
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
  readonly log: Logger
  readonly clock?: Clock
}

/**
 * Attempts to connect until the server can be reached: whatever starts the service often starts its database at the same time. Rejects
 * with the error of the last attempt, and at once with an error that time does not cure, such as a wrong password.
 */
export async function waitForServer(
  connect: () => Promise<unknown>,
  { waitMs, signal, log, clock = systemClock }: WaitOptions,
): Promise<void> {
  const end = clock.now() + waitMs
  let logAt = 0
  for (;;) {
    const error = await failureOf(connect)
    if (error === undefined) return
    const now = clock.now()
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

async function failureOf(connect: () => Promise<unknown>): Promise<unknown> {
  try {
    await connect()
    return undefined
  } catch (error) {
    return error ?? new Error('The connection failed without an error.')
  }
}
