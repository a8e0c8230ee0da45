import pg from 'pg'
import type { Clock } from '../../../lib/time.ts'
import type { Logger } from '../../../log.ts'
import type { Servers } from './postgres-servers.ts'

type Handler = (payload: string) => void

interface ListenerOptions {
  readonly settings: pg.ClientConfig
  readonly servers: Servers
  readonly log: Logger
  readonly clock: Clock
}

/** The part of `Database` that listens to notifications. */
export interface Listener {
  listen(channel: string, handler: Handler): Promise<() => Promise<void>>
  close(): Promise<void>
}

/**
 * Creates a listener with its own connection, because a pool would share it and close it when idle. After a
 * lost connection every handler is called once with an empty payload, because PostgreSQL does not store
 * notifications.
 */
export function createListener({ settings, servers, log, clock }: ListenerOptions): Listener {
  const handlers = new Map<string, Set<Handler>>()
  let isClosed = false

  function call(channel: string, payload: string): void {
    for (const handler of handlers.get(channel) ?? []) handler(payload)
  }

  async function open(): Promise<pg.Client> {
    // Readers of different channels come and go at any time, and share the connection.
    const client = new servers.Client({ ...settings, pipeline: true } as pg.ClientConfig)
    client.on('error', (error) => log.debug({ err: error }, 'database listener connection lost'))
    client.on('notification', ({ channel, payload }) => call(channel, payload ?? ''))
    await connectListening(client, handlers.keys())
    return client
  }

  const onReturn = () => {
    for (const channel of handlers.keys()) call(channel, '')
  }
  const keeper = createConnectionKeeper({ open: () => servers.use(open), onReturn, log, clock })

  function forget(channel: string, handler: Handler): void {
    const set = handlers.get(channel)
    set?.delete(handler)
    if (set?.size === 0) handlers.delete(channel)
  }

  /**
   * No one waits for it: a shutdown would wait for an unreachable server, and if it fails only useless
   * notifications come.
   */
  async function unlisten(channel: string): Promise<void> {
    if (isClosed) return
    const client = await keeper.get()
    if (!handlers.has(channel)) await client.query(`un${listenTo(channel)}`)
  }

  return {
    async listen(channel, handler) {
      handlers.set(channel, (handlers.get(channel) ?? new Set()).add(handler))
      try {
        await (await keeper.get()).query(listenTo(channel))
      } catch (error) {
        forget(channel, handler)
        throw error
      }
      return async () => {
        forget(channel, handler)
        if (!handlers.has(channel)) unlisten(channel).catch(() => {})
      }
    },
    close() {
      isClosed = true
      return keeper.close()
    },
  }
}

async function connectListening(client: pg.Client, channels: Iterable<string>): Promise<void> {
  try {
    await client.connect()
    for (const channel of channels) await client.query(listenTo(channel))
  } catch (error) {
    // The connection is half open. Only the reason for the failure matters, so errors of the end are ignored.
    await client.end().catch(() => {})
    throw error
  }
}

const listenTo = (channel: string) => `listen ${pg.escapeIdentifier(channel)}`

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

/**
 * One connection that opens at its first use. When it is lost, the keeper tries to open a new one until it
 * succeeds.
 */
export interface ConnectionKeeper {
  get(): Promise<pg.Client>
  close(): Promise<void>
}

/**
 * Creates a keeper. If the first connection fails, the caller gets the error, and the next use tries again.
 */
function createConnectionKeeper({ open, onReturn, log, clock }: KeeperOptions): ConnectionKeeper {
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
        log.debug({ err: error }, 'database listener connection failed; retrying')
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

/**
 * Adds randomness to half of the delay, so that processes that lost the same server do not reconnect at the
 * same time.
 */
function jittered(delayMs: number): number {
  return (delayMs * (1 + Math.random())) / 2
}
