import { type Clock, withTimeout } from '../../../lib/time.ts'
import type { Logger } from '../../../log.ts'

/** The time in ms between two checks whether a lost database is back. */
const CHECK_EVERY_MS = 500

/** A database that answers within this time, in ms, after an error has lost a connection and nothing else. */
const REPLACED_WITHIN_MS = 1_000

interface OutageLogOptions {
  readonly log: Logger
  readonly clock: Clock
  /** Returns host and port of the server that is used. */
  readonly host: () => string
  /** Resolves when the database answers. */
  readonly check: () => Promise<void>
}

/** Writes one line when the database goes and one when it is back, however many statements fail meanwhile. */
export interface OutageLog {
  /** Notes an error that says that the server is going away, was lost, or has become read-only. */
  lost(error: unknown): void
  /** Begins to write lines. A start, which waits for the database, has lines of its own. */
  watch(): void
  close(): void
}

/** Creates the log of outages. Call `watch` when the database was reached for the first time. */
export function createOutageLog({ log, clock, host, check }: OutageLogOptions): OutageLog {
  const stop = new AbortController()
  let isWatching = false
  let isAway = false

  /** Errors say what the first line says. */
  const answers = () =>
    check().then(
      () => true,
      () => false,
    )

  async function followOutage(error: unknown): Promise<void> {
    const since = clock.monotonic()
    if ((await withTimeout(clock, REPLACED_WITHIN_MS, answers())) === true) {
      log.warn({ err: error, host: host() }, 'database connection lost and replaced')
      isAway = false
      return
    }
    log.error({ err: error, host: host() }, 'database lost; requests get 503 until it is back')
    do await clock.sleep(CHECK_EVERY_MS, stop.signal)
    while (!stop.signal.aborted && !(await answers()))
    isAway = false
    if (stop.signal.aborted) return
    const seconds = Math.round((clock.monotonic() - since) / 100) / 10
    log.info({ host: host(), seconds }, 'database is back')
  }

  return {
    lost(error) {
      if (!isWatching || isAway || stop.signal.aborted) return
      isAway = true
      void followOutage(error)
    },
    watch() {
      isWatching = true
    },
    close: () => stop.abort(),
  }
}
