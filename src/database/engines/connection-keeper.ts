import type pg from 'pg'
import type { Clock } from '../../lib/time.ts'
import type { Logger } from '../../log.ts'

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5_000

interface KeeperOptions {
  /** Opens a new connection. */
  readonly open: () => Promise<pg.Client>
  /** Called after a new connection replaced a lost one. */
  readonly onReturn: () => void
  readonly log: Logger
  readonly clock: Clock
}

/** One connection that opens at its first use. When it is lost, the keeper tries to open a new one until it succeeds. */
export interface ConnectionKeeper {
  get(): Promise<pg.Client>
  close(): Promise<void>
}

/** Creates a keeper. If the first connection fails, the caller gets the error, and the next use tries again. */
export function createConnectionKeeper({ open, onReturn, log, clock }: KeeperOptions): ConnectionKeeper {
  const stop = new AbortController()
  let connection: Promise<pg.Client> | undefined

  async function openWatched(): Promise<pg.Client> {
    const client = await open()
    client.once('end', () => {
      if (stop.signal.aborted) return
      connection = reopen()
      // The promise rejects only when the keeper is closed, and then there may be no caller to handle it.
      connection.catch(() => {})
    })
    return client
  }

  async function reopen(): Promise<pg.Client> {
    for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
      await clock.sleep(jittered(delay), stop.signal)
      if (stop.signal.aborted) throw new Error('The database is closed.')
      try {
        const client = await openWatched()
        onReturn()
        return client
      } catch (error) {
        log.warn({ err: error }, 'database listener connection failed; retrying')
      }
    }
  }

  function get(): Promise<pg.Client> {
    connection ??= openWatched().catch((error) => {
      connection = undefined
      throw error
    })
    return connection
  }

  async function close(): Promise<void> {
    stop.abort()
    const client = await connection?.catch(() => undefined)
    await client?.end()
  }

  return { get, close }
}

/** Adds randomness to half of the delay, so that processes that lost the same server do not reconnect at the same time. */
function jittered(delayMs: number): number {
  return (delayMs * (1 + Math.random())) / 2
}
