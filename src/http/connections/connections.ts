import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Limits } from '../limits.ts'
import type { Peers } from './peer.ts'

/**
 * The open connections. A connection is authenticated when a request on it has shown a valid key. When there are too many, the
 * least recently used unauthenticated one is closed, so that nobody keeps the others out by staying.
 */
export interface Connections {
  /** Adds a new connection, and closes another one, or this one, when a limit is exceeded. */
  admit(socket: Socket): void
  /** Marks the connection as busy until the response ends. */
  serve(socket: Socket, response: ServerResponse): void
  /** Notes that a valid key was shown on the connection. */
  markAuthenticated(socket: Socket): void
  /** Tells whether a valid key was shown on the connection. */
  isAuthenticated(socket: Socket): boolean
  /** The number of connections that were ever admitted. */
  readonly admitted: number
  /** Closes the connections that neither wait for an answer nor have sent the beginning of a request, and from now on each one that becomes idle. */
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
  readonly onClosed: (peer: string | undefined) => void
}

/**
 * A Set keeps the order of insertion, and a connection moves to the end when a request begins or ends on it. So the first one is the least
 * recently used.
 */
type ByLastUse = Set<Connection>

/** The connection outlives the announced time by this much, in ms, so that a caller does not reuse it while it is being closed. */
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

  function close(connection: Connection): void {
    forget(connection)
    onClosed(connection.peer)
    connection.socket.destroy()
  }

  function moveToEnd(connection: Connection): void {
    leave(connection)
    join(connection)
  }

  /** Node has set the time-out of an authenticated connection before this, and resets it at the next request. */
  function becomeIdle(connection: Connection): void {
    moveToEnd(connection)
    if (connection.requests > 0) return
    if (closing) connection.socket.destroySoon()
    else if (!connection.hasShownKey)
      connection.socket.setTimeout(limits.unauthenticatedKeepAliveMs + KEEP_ALIVE_MARGIN_MS)
  }

  /**
   * An unauthenticated connection gives way before an authenticated one even while it is answered, because its requests are short. It also
   * gives way before a newer one that has sent nothing yet: otherwise those who begin a request and never end it would keep the others out.
   */
  function makeRoom(newest: Connection): void {
    const ofPeer = unauthenticatedOfPeer.get(newest.peer ?? '')
    if (ofPeer !== undefined && ofPeer.size > connectionsPerPeer)
      close(leastRecentlyUsed(ofPeer, newest) ?? newest)
    if (open.size <= maxConnections) return
    close(leastRecentlyUsed(unauthenticated, newest) ?? firstIdle(authenticated) ?? newest)
  }

  return {
    admit: (socket) => {
      const peer = peers.ofConnection(socket.remoteAddress)
      const connection = { socket, peer, requests: 0, bytesSeen: 0, hasShownKey: false }
      admitted += 1
      open.set(socket, connection)
      join(connection)
      socket.once('close', () => forget(connection))
      makeRoom(connection)
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
