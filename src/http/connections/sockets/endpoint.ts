import type { Actor } from '../../../access/principal.ts'
import type { Scope } from '../../../access/scope.ts'

/** The codes of RFC 6455 with which the service closes a socket. */
export const CLOSE = {
  goingAway: 1001,
  unsupportedData: 1003,
  /** Never sent: the connection ended without a closing frame. */
  abnormal: 1006,
  policyViolation: 1008,
  internalError: 1011,
  serviceRestart: 1012,
} as const

/** The WebSockets at one path below a mount. */
export interface SocketEndpoint {
  /** The rest of the path after that of the mount, without a slash at its beginning. */
  readonly path: string
  /**
   * The query parameter that may carry the API key, for pages of browsers, which cannot send the header;
   * absent: only the header counts.
   */
  readonly keyParameter?: string | undefined
  /** The scope that a caller with an API key needs. */
  readonly scope: Scope
  /** The most open sockets: of all callers, and of one API key or one address without a key. */
  readonly most: { readonly all: number; readonly perCaller: number }
  /**
   * Called before the handshake, after every check of the caller.
   * @throws AppError if no one can serve a socket now
   */
  prepare(request: SocketRequest): Promise<SocketSession>
}

/** A mount at whose path for WebSockets a request has arrived. */
export interface SocketMount {
  /** Callers need no API key. */
  readonly isOpen: boolean
  /** The origins whose pages may connect; `*` is every page. */
  readonly corsOrigins: readonly string[]
  readonly sockets: SocketEndpoint
}

/** A request to open a WebSocket, without the credential. */
export interface SocketRequest {
  readonly requestId: string
  readonly actor: Actor
  /** With a slash at its beginning. */
  readonly route: string
  readonly query: Readonly<Record<string, readonly string[]>>
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/**
 * Serves one socket. The methods are called one after another: each waits until the one before it has ended.
 * None of them rejects.
 */
export interface SocketSession {
  /** Called once, first. */
  opened(peer: SocketPeer): Promise<void>
  message(text: string): Promise<void>
  /** Called once, last. The code is 1006 if the connection broke. */
  closed(code: number, reason: string): Promise<void>
}

/** The other end of a socket. */
export interface SocketPeer {
  /** Sends a text. A closed socket ignores it; one that does not read is ended. */
  send(text: string): void
  /** Begins the closing handshake; what is sent later is ignored. */
  close(code: number, reason: string): void
}
