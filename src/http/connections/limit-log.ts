import type { Logger } from 'pino'
import type { Clock } from '../../lib/time/clock.ts'

/** The shortest time in ms between two lines, because unauthenticated callers decide how often a connection is closed. */
const QUIET_MS = 10_000

/** Logs that connections were closed because of a limit: the first one at once, the later ones as a number. */
export function createLimitLog({
  log,
  clock,
}: {
  log: Logger
  clock: Pick<Clock, 'monotonic'>
}): (peer: string | undefined) => void {
  let silentUntil = -Infinity
  let closed = 0
  return (peer) => {
    closed += 1
    if (clock.monotonic() < silentUntil) return
    log.warn({ peer, closed }, 'connection closed: the limit is reached')
    silentUntil = clock.monotonic() + QUIET_MS
    closed = 0
  }
}
