import type pg from 'pg'

/**
 * A connection that gets no answer for this time, in ms, leads to a look at its server, on a new connection.
 * Together with the time for that look it is how long requests hang when the machine of the primary is lost.
 */
const LOOK_EVERY_MS = 2_000

/**
 * Servers in use are looked at every fifth round even if no statement waits: an old primary whose standbys
 * are asynchronous answers every commit, and loses all of them.
 */
const ROUNDS_UNTIL_LOOK = 5

/** The part of node-postgres that its types omit: false while an answer is awaited (client.js). */
type Waiting = pg.Client & { readonly readyForQuery: boolean }

/** A connection with its server. */
interface Watched {
  readonly client: pg.Client
  /** The number of the server in the URL. */
  readonly server: number
  /** The bytes that it had received at the last look, if an answer was awaited then. */
  receivedWaiting?: number | undefined
}

/** Ends connections to servers that are to be left. */
export interface SilenceWatch {
  /** Watches a connection to the server with this number until it ends. */
  add(client: pg.Client, server: number): void
  /**
   * Ends the connections to one server, or all of them. Their statements fail as those of any lost
   * connection.
   */
  destroy(reason: string, server?: number): void
  /** Looks at a server, with a look that begins after the call. Returns what `inspect` does. */
  look(server: number): Promise<boolean | undefined>
}

interface WatchOptions {
  /**
   * Looks at a server, to which these connections of this process lead, and ends them if it is to be left.
   */
  readonly inspect: (server: number, clients: readonly pg.Client[]) => Promise<boolean | undefined>
  /** Servers are also looked at while they answer. */
  readonly looksAround: boolean
}

/**
 * A machine without power, a frozen one and a cut network say nothing: TCP takes a quarter of an hour to give
 * up what was sent, and keeps a connection that only listens open permanently. So a server that leaves a
 * statement without an answer is looked at.
 */
export function watchSilence({ inspect, looksAround }: WatchOptions): SilenceWatch {
  const watched = new Set<Watched>()
  const looks = new Map<number, Promise<boolean | undefined>>()
  let timer: NodeJS.Timeout | undefined
  let rounds = 0

  function ask(server: number): Promise<boolean | undefined> {
    const present = looks.get(server)
    if (present !== undefined) return present
    const clients = [...watched].filter((one) => one.server === server).map(({ client }) => client)
    const look = inspect(server, clients).finally(() => looks.delete(server))
    looks.set(server, look)
    return look
  }

  function check(one: Watched): void {
    const { client, server, receivedWaiting } = one
    const isWaiting = !(client as Waiting).readyForQuery
    const received = bytesRead(client)
    if (isWaiting && receivedWaiting === received) void ask(server)
    // A connection that only listens asks nothing, and would never wait for an answer.
    const listens = client.listenerCount('notification') > 0
    if (!isWaiting && listens) client.query('select 1').catch(() => {})
    one.receivedWaiting = isWaiting || listens ? received : undefined
  }

  function checkAll(): void {
    rounds += 1
    for (const one of watched) check(one)
    if (!looksAround || rounds % ROUNDS_UNTIL_LOOK !== 0) return
    for (const server of new Set([...watched].map((one) => one.server))) void ask(server)
  }

  return {
    async look(server) {
      await looks.get(server)
      return ask(server)
    },
    add(client, server) {
      const one: Watched = { client, server }
      watched.add(one)
      timer ??= setInterval(checkAll, LOOK_EVERY_MS).unref()
      client.once('end', () => {
        watched.delete(one)
        if (watched.size > 0) return
        clearInterval(timer)
        timer = undefined
      })
    },
    destroy(reason, server) {
      for (const one of watched)
        if (server === undefined || one.server === server)
          one.client.connection.stream.destroy(new Error(`Connection terminated: ${reason}`))
    },
  }
}

function bytesRead({ connection: { stream } }: pg.Client): number {
  return (stream as { readonly bytesRead?: number }).bytesRead ?? 0
}
