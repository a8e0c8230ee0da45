import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Clock } from '../../lib/time.ts'
import type { Limits } from '../server-options.ts'
import type { Peers } from './peer.ts'

/**
 * The open connections. A connection is authenticated when a request on it has shown a valid key. If there
 * are too many, the least recently used unauthenticated one is closed, so that idle connections cannot keep
 * others out.
 */
export interface Connections {
  /** Adds a new connection, and closes another one, or this one, when a limit is exceeded. */
  admit(socket: Socket): void
  /** Marks the connection as busy until the response ends. */
  serve(socket: Socket, response: ServerResponse): void
  /** Notes that a valid key was shown on the connection. */
  markAuthenticated(socket: Socket): void
  /** Returns whether a valid key was shown on the connection. */
  isAuthenticated(socket: Socket): boolean
  /** The number of connections that were ever admitted. */
  readonly admitted: number
  /**
   * Closes the connections that neither wait for a response nor have sent the beginning of a request, and
   * then each one that becomes idle.
   */
  closeIdle(): void
}

interface Connection {
  readonly socket: Socket
  /** Undefined for a trusted proxy. */
  readonly peer: string | undefined
  /** The number of requests that wait for the end of their answer. */
  requests: number
  /** The bytes that had arrived when the last answer ended. */
  bytesSeen: number
  hasShownKey: boolean
}

interface ConnectionsOptions {
  readonly limits: Pick<Limits, 'maxConnections' | 'connectionsPerPeer' | 'unauthenticatedKeepAliveMs'>
  readonly peers: Peers
  /** Called for each connection that is closed because of a limit. */
  readonly onClosed: (closed: ClosedByLimit) => void
}

/** A connection that was closed because of a limit. */
interface ClosedByLimit {
  readonly peer: string | undefined
  /** The setting that raises the limit, and its value. */
  readonly setting: 'MAX_CONNECTIONS' | 'RELAYER_MAX_CONNECTIONS_PER_PEER'
  readonly limit: number
}

/**
 * A Set keeps the order of insertion, and a connection moves to the end when a request begins or ends on it.
 * So the first one is the least recently used.
 */
type ByLastUse = Set<Connection>

/**
 * The connection outlives the announced time by this much, in ms, so that a caller does not reuse it while it
 * is being closed.
 */
const KEEP_ALIVE_MARGIN_MS = 1_000

/** Creates the table of connections. */
export function createConnections({ limits, peers, onClosed }: ConnectionsOptions): Connections {
  const { maxConnections, connectionsPerPeer = Math.ceil(maxConnections / 4) } = limits
  const open = new Map<Socket, Connection>()
  const unauthenticated: ByLastUse = new Set()
  const authenticated: ByLastUse = new Set()
  const unauthenticatedOfPeer = new Map<string, ByLastUse>()
  let admitted = 0
  let closing = false

  function join(connection: Connection): void {
    const { peer } = connection
    if (connection.hasShownKey) return void authenticated.add(connection)
    unauthenticated.add(connection)
    if (peer === undefined) return
    const ofPeer = unauthenticatedOfPeer.get(peer) ?? new Set()
    unauthenticatedOfPeer.set(peer, ofPeer.add(connection))
  }

  function leave(connection: Connection): void {
    const { peer = '' } = connection
    authenticated.delete(connection)
    unauthenticated.delete(connection)
    const ofPeer = unauthenticatedOfPeer.get(peer)
    if (ofPeer?.delete(connection) && ofPeer.size === 0) unauthenticatedOfPeer.delete(peer)
  }

  function forget({ socket }: Connection): void {
    const connection = open.get(socket)
    if (connection === undefined) return
    open.delete(socket)
    leave(connection)
  }

  function close(connection: Connection, reached: Omit<ClosedByLimit, 'peer'>): void {
    forget(connection)
    onClosed({ peer: connection.peer, ...reached })
    connection.socket.destroy()
  }

  function moveToEnd(connection: Connection): void {
    leave(connection)
    join(connection)
  }

  /**
   * Node has set the time-out of an authenticated connection before this, and resets it at the next request.
   */
  function becomeIdle(connection: Connection): void {
    moveToEnd(connection)
    if (connection.requests > 0) return
    if (closing) connection.socket.destroySoon()
    else if (!connection.hasShownKey)
      connection.socket.setTimeout(limits.unauthenticatedKeepAliveMs + KEEP_ALIVE_MARGIN_MS)
  }

  /**
   * An unauthenticated connection is closed before an authenticated one even while it is being answered,
   * because its requests are short. It is also closed before a newer one that has sent nothing yet: otherwise
   * clients that begin a request and never end it would keep others out.
   */
  function closeOne(newest: Connection): void {
    const ofPeer = unauthenticatedOfPeer.get(newest.peer ?? '')
    if (ofPeer !== undefined && ofPeer.size > connectionsPerPeer)
      close(leastRecentlyUsed(ofPeer, newest) ?? newest, {
        setting: 'RELAYER_MAX_CONNECTIONS_PER_PEER',
        limit: connectionsPerPeer,
      })
    if (open.size <= maxConnections) return
    close(leastRecentlyUsed(unauthenticated, newest) ?? firstIdle(authenticated) ?? newest, {
      setting: 'MAX_CONNECTIONS',
      limit: maxConnections,
    })
  }

  return {
    admit: (socket) => {
      const peer = peers.ofConnection(socket.remoteAddress)
      const connection = { socket, peer, requests: 0, bytesSeen: 0, hasShownKey: false }
      admitted += 1
      open.set(socket, connection)
      join(connection)
      socket.once('close', () => forget(connection))
      closeOne(connection)
    },
    serve: (socket, response) => {
      const connection = open.get(socket)
      if (connection === undefined) return
      connection.requests += 1
      moveToEnd(connection)
      response.once('close', () => {
        connection.requests -= 1
        connection.bytesSeen = socket.bytesRead
        if (open.has(socket)) becomeIdle(connection)
      })
    },
    markAuthenticated: (socket) => {
      const connection = open.get(socket)
      if (connection === undefined || connection.hasShownKey) return
      leave(connection)
      connection.hasShownKey = true
      join(connection)
    },
    isAuthenticated: (socket) => open.get(socket)?.hasShownKey === true,
    get admitted() {
      return admitted
    },
    closeIdle: () => {
      closing = true
      for (const { socket, requests, bytesSeen } of open.values()) {
        if (requests === 0 && socket.bytesRead === bytesSeen) socket.destroy()
      }
    },
  }
}

function leastRecentlyUsed(connections: ByLastUse, except: Connection): Connection | undefined {
  for (const connection of connections) if (connection !== except) return connection
  return undefined
}

function firstIdle(connections: ByLastUse): Connection | undefined {
  for (const connection of connections) if (connection.requests === 0) return connection
  return undefined
}

/**
 * A quarter of the file descriptors stays free for endpoints, webhooks, the database and files, and never
 * less than this.
 */
const LEAST_RESERVE = 256

/** The part of the process limit that `fittingLimit` reads. */
interface OpenFiles {
  /** The most file descriptors of the process; Node raises the soft limit to the hard one at its start. */
  readonly openFiles: number
}

/**
 * Returns the number of connections that leaves enough file descriptors for everything else, but at least
 * one.
 */
export function fittingLimit(wanted: number, { openFiles }: OpenFiles): number {
  const most = Math.min(Math.floor((openFiles * 3) / 4), openFiles - LEAST_RESERVE)
  return Math.max(1, Math.min(wanted, most))
}

/** Lowers the wanted number of connections to what the process may open, and logs that it did. */
export function connectionLimit(wanted: number, log: Logger): number {
  const openFiles = openFilesOfProcess()
  const limit = fittingLimit(wanted, { openFiles })
  if (limit < wanted)
    log.warn({ wanted, limit, openFiles }, 'connection limit lowered: the process may open too few files')
  return limit
}

/** Node's type declarations have neither the option nor the shape of the report. */
const report: object & { excludeNetwork?: boolean; getReport(): object } = process.report

interface ProcessReport {
  readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } }
}

function openFilesOfProcess(): number {
  // Without this option the report resolves the names of all peers.
  report.excludeNetwork = true
  const { userLimits } = report.getReport() as ProcessReport
  const soft = Number(userLimits?.open_files?.soft)
  return Number.isFinite(soft) ? soft : Number.POSITIVE_INFINITY
}

/**
 * The shortest time in ms between two lines, because unauthenticated callers decide how often a connection is
 * closed.
 */
const QUIET_MS = 10_000

/**
 * Logs that connections were closed because of a limit: the first one immediately, the later ones as a
 * number.
 */
export function createLimitLog({
  log,
  clock,
}: {
  log: Logger
  clock: Pick<Clock, 'monotonic'>
}): (closed: ClosedByLimit) => void {
  let silentUntil = -Infinity
  let closed = 0
  return (by) => {
    closed += 1
    if (clock.monotonic() < silentUntil) return
    log.warn({ ...by, closed }, 'connection closed: the limit is reached')
    silentUntil = clock.monotonic() + QUIET_MS
    closed = 0
  }
}

/**
 * Starts to listen and returns the address. `backlog` is the number of connections that wait to be accepted.
 * Rejects when the port is in use.
 */
export async function listen(
  server: Server,
  { host, port, backlog }: { readonly host: string; readonly port: number; readonly backlog?: number },
): Promise<{ host: string; port: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ port, host, ...(backlog !== undefined && { backlog }) }, resolve)
  await promise
  server.removeListener('error', reject)
  const { address, port: actual } = server.address() as AddressInfo
  return { host: address, port: actual }
}

/** Stops new connections and closes the open ones. */
export async function close(server: Server): Promise<void> {
  if (!server.listening) return
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  await promise
}
