import pg from 'pg'

/**
 * A connection that gets no answer for this time, in ms, leads to a question to its server, on a new connection. Together with the time for
 * that question it is how long requests hang when the machine of the primary is lost.
 */
const LOOK_EVERY_MS = 2_000

/** The part of node-postgres that its types omit: false while an answer is awaited (client.js). */
type Waiting = pg.Client & { readonly readyForQuery: boolean }

/** A connection with its server. */
interface Watched {
  readonly client: pg.Client
  /** The URL with this server alone. */
  readonly url: string
  /** The bytes that it had received at the last look, if an answer was awaited then. */
  receivedWaiting?: number | undefined
}

/** Ends connections to servers that are gone without a word. */
export interface SilenceWatch {
  /** Watches a connection to the server of a url until it ends. */
  add(client: pg.Client, url: string): void
}

/**
 * A machine without power, a frozen one and a cut network say nothing: TCP takes a quarter of an hour to give up what was sent, and keeps a
 * connection that only listens open permanently. So a server that leaves a statement without an answer is asked for a new connection. If it
 * takes none within `timeoutMs`, all connections to it are closed, and their statements fail as those of any lost connection. A server that
 * takes one is busy, or waits for its standby, and so do we.
 */
export function watchSilence({ timeoutMs }: { readonly timeoutMs: number }): SilenceWatch {
  const watched = new Set<Watched>()
  const asked = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  async function ask(url: string): Promise<void> {
    if (asked.has(url)) return
    asked.add(url)
    const isThere = await takesConnection(url, timeoutMs)
    asked.delete(url)
    if (isThere) return
    for (const { client, url: own } of watched)
      if (own === url)
        client.connection.stream.destroy(new Error('Connection terminated: the server is silent'))
  }

  function look(one: Watched): void {
    const { client, url, receivedWaiting } = one
    const isWaiting = !(client as Waiting).readyForQuery
    const received = bytesRead(client)
    if (isWaiting && receivedWaiting === received) void ask(url)
    // A connection that only listens asks nothing, and would never wait for an answer.
    const listens = client.listenerCount('notification') > 0
    if (!isWaiting && listens) client.query('select 1').catch(() => {})
    one.receivedWaiting = isWaiting || listens ? received : undefined
  }

  return {
    add(client, url) {
      const one: Watched = { client, url }
      watched.add(one)
      timer ??= setInterval(() => watched.forEach(look), LOOK_EVERY_MS).unref()
      client.once('end', () => {
        watched.delete(one)
        if (watched.size > 0) return
        clearInterval(timer)
        timer = undefined
      })
    },
  }
}

function bytesRead({ connection: { stream } }: pg.Client): number {
  return (stream as { readonly bytesRead?: number }).bytesRead ?? 0
}

/** True when the server answers a new connection, if only with a refusal. */
async function takesConnection(url: string, timeoutMs: number): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'relayer',
    connectionTimeoutMillis: timeoutMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch (error) {
    return error instanceof pg.DatabaseError
  } finally {
    // Errors of the end say nothing more about the server.
    client.end().catch(() => {})
  }
}
