import pg from 'pg'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5_000

type Handler = (payload: string) => void

interface ListenerOptions {
  readonly settings: pg.ClientConfig
  readonly log: Logger
  readonly clock: Clock
}

export interface Listener {
  listen(channel: string, handler: Handler): Promise<() => Promise<void>>
  close(): Promise<void>
}

/**
 * One connection of its own for LISTEN, opened with the first listener: a pool would hand it to others and drop it when
 * idle. When it is lost it is opened again for as long as it takes, and every handler is called once with an empty
 * payload, because notifications are not kept for those who are away.
 */
export function createListener({ settings, log, clock }: ListenerOptions): Listener {
  const handlers = new Map<string, Set<Handler>>()
  const stop = new AbortController()
  let connection: Promise<pg.Client> | undefined

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client(settings)
    client.on('error', (error) => log.warn({ err: error }, 'the listening database connection was lost'))
    client.on('notification', ({ channel, payload }) => call(channel, payload ?? ''))
    try {
      await client.connect()
      for (const channel of handlers.keys()) await client.query(`listen ${client.escapeIdentifier(channel)}`)
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
    client.once('end', () => {
      if (stop.signal.aborted) return
      connection = reconnect()
      // It fails only when the listener is closed meanwhile, and then nobody may be waiting for it.
      connection.catch(() => {})
    })
    return client
  }

  async function reconnect(): Promise<pg.Client> {
    for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
      // Half fixed, half random: many processes that lost the same server must not come back in step.
      await clock.sleep(delay / 2 + (Math.random() * delay) / 2, stop.signal)
      if (stop.signal.aborted) throw new Error('The database is closed.')
      try {
        const client = await connect()
        for (const channel of handlers.keys()) call(channel, '')
        return client
      } catch (error) {
        log.warn({ err: error }, 'the database cannot be listened to; trying again')
      }
    }
  }

  function call(channel: string, payload: string): void {
    for (const handler of handlers.get(channel) ?? []) handler(payload)
  }

  async function remove(channel: string, handler: Handler): Promise<void> {
    const set = handlers.get(channel)
    if (!set?.delete(handler) || set.size > 0) return
    handlers.delete(channel)
    const client = await connection
    if (!stop.signal.aborted) await client?.query(`unlisten ${client.escapeIdentifier(channel)}`)
  }

  return {
    async listen(channel, handler) {
      const set = handlers.get(channel) ?? new Set()
      handlers.set(channel, set.add(handler))
      connection ??= connect().catch((error) => {
        connection = undefined
        throw error
      })
      try {
        const client = await connection
        await client.query(`listen ${client.escapeIdentifier(channel)}`)
      } catch (error) {
        set.delete(handler)
        throw error
      }
      return () => remove(channel, handler)
    },
    async close() {
      stop.abort()
      const client = await connection?.catch(() => undefined)
      await client?.end()
    },
  }
}
