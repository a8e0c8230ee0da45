import pg from 'pg'
import type { Clock } from '../../lib/time.ts'
import type { Logger } from '../../log.ts'
import { createConnectionKeeper } from './connection-keeper.ts'
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
 * Creates a listener with its own connection, because a pool would share it and close it when idle. After a lost connection every handler is
 * called once with an empty payload, because PostgreSQL does not store notifications.
 */
export function createListener({ settings, servers, log, clock }: ListenerOptions): Listener {
  const handlers = new Map<string, Set<Handler>>()

  function call(channel: string, payload: string): void {
    for (const handler of handlers.get(channel) ?? []) handler(payload)
  }

  async function open(): Promise<pg.Client> {
    const client = new servers.Client(settings)
    client.on('error', (error) => log.warn({ err: error }, 'database listener connection lost'))
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

  return {
    async listen(channel, handler) {
      handlers.set(channel, (handlers.get(channel) ?? new Set()).add(handler))
      try {
        await (await keeper.get()).query(listenTo(channel))
      } catch (error) {
        forget(channel, handler)
        throw error
      }
      // The server is not told: a stop would wait for one that is away, and the connection ends soon after.
      return async () => forget(channel, handler)
    },
    close: keeper.close,
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
