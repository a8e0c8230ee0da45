import type pg from 'pg'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../log.ts'

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5_000

interface KeeperOptions {
  /** A new connection, ready for use. */
  readonly open: () => Promise<pg.Client>
  /** Called after a lost connection was replaced. */
  readonly onReturn: () => void
  readonly log: Logger
  readonly clock: Clock
}

/** One connection that is opened at first use and opened again, for as long as it takes, when it is lost. */
export interface ConnectionKeeper {
  get(): Promise<pg.Client>
  close(): Promise<void>
}

/** See `ConnectionKeeper`. A first opening that fails is the caller's to handle; the next use tries again. */
export function createConnectionKeeper({ open, onReturn, log, clock }: KeeperOptions): ConnectionKeeper {
  const stop = new AbortController()
  let connection: Promise<pg.Client> | undefined

  async function openWatched(): Promise<pg.Client> {
    const client = await open()
    client.once('end', () => {
      if (stop.signal.aborted) return
      connection = reopen()
      // It fails only when the keeper is closed meanwhile, and then nobody may be waiting for it.
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
        log.warn({ err: error }, 'the database cannot be listened to; trying again')
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

/** Half fixed, half random: many processes that lost the same server must not come back in step. */
function jittered(delayMs: number): number {
  return (delayMs * (1 + Math.random())) / 2
}
