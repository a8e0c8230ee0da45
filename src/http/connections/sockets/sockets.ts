import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ServerOptions, WebSocketServer } from 'ws'
import { AppError } from '../../../errors.ts'
import { CLOSE, type SocketEndpoint, type SocketSession } from './endpoint.ts'
import { MAX_RECEIVED_BYTES, OpenSocket, type Unread } from './open-socket.ts'

/** A caller that waits for a slot tries again after this time. */
const RETRY_AFTER_SECONDS = 5

/** The time in ms that a caller has for its part of the closing handshake. */
const CLOSE_MS = 2_000

/** Callers without an API key have at most this part of the sockets of an endpoint. */
const PART_OF_STRANGERS = 0.5

/** The limits of the library, which its types do not all have. */
const LIBRARY: ServerOptions & {
  readonly maxFragments: number
  readonly maxBufferedChunks: number
  readonly closeTimeout: number
} = {
  noServer: true,
  clientTracking: false,
  // A compressed message can be a thousand times larger than what arrives.
  perMessageDeflate: false,
  maxPayload: MAX_RECEIVED_BYTES,
  // Pieces of a message take more memory than their bytes.
  maxFragments: 256,
  maxBufferedChunks: 1_024,
  closeTimeout: CLOSE_MS,
  autoPong: false,
}

/** The right to one socket. */
export interface SocketSlot {
  release(): void
}

interface Accepting {
  readonly request: IncomingMessage
  readonly connection: Duplex
  readonly head: Buffer
  readonly session: SocketSession
  readonly slot: SocketSlot
  readonly countMessage: () => number
  /** Aborts when the rights of the caller change or end. */
  readonly ended: AbortSignal
}

/** The WebSockets of this process. */
export interface Sockets {
  /**
   * Takes a slot for a caller.
   * @throws AppError `rate_limited` if the endpoint, the API key or the address has too many sockets
   */
  take(endpoint: SocketEndpoint, caller: { readonly name: string; readonly isAnonymous: boolean }): SocketSlot
  /** Completes the handshake. Returns false, with the slot free, if the request is none. */
  accept(accepting: Accepting): boolean
  /** Closes every socket, and refuses further ones. */
  closeAll(): void
  /** Ends every connection, without the closing handshake. */
  endAll(): void
}

interface Taken {
  readonly byCaller: Map<string, number>
  all: number
  anonymous: number
}

/**
 * Creates the table of sockets. They are asked for a sign of life at the interval; without any, nothing runs.
 */
export function createSockets({ pingMs }: { readonly pingMs: number }): Sockets {
  const library = new WebSocketServer(LIBRARY)
  const open = new Set<OpenSocket>()
  const taken = new Map<SocketEndpoint, Taken>()
  let isClosing = false
  let timer: NodeJS.Timeout | undefined
  const unread: Unread = {
    bytes: 0,
    endSlowest: () => {
      const [first, ...others] = open
      others
        .reduce((most, one) => (one.unreadBytes > (most?.unreadBytes ?? 0) ? one : most), first)
        ?.endSlow()
    },
  }

  function add(socket: OpenSocket): void {
    open.add(socket)
    timer ??= setInterval(() => {
      for (const one of open) one.look()
    }, pingMs).unref()
  }

  function remove(socket: OpenSocket): void {
    open.delete(socket)
    if (open.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    take: (endpoint, { name, isAnonymous }) => {
      if (isClosing) throw shuttingDown()
      const counts = taken.get(endpoint) ?? { byCaller: new Map<string, number>(), all: 0, anonymous: 0 }
      const { all, perCaller } = endpoint.most
      const ofCaller = counts.byCaller.get(name) ?? 0
      if (ofCaller >= perCaller)
        throw tooMany(`This ${isAnonymous ? 'address' : 'API key'} has ${ofCaller} WebSockets here already`)
      const ofStrangers = Math.ceil(all * PART_OF_STRANGERS)
      if (counts.all >= all || (isAnonymous && counts.anonymous >= ofStrangers))
        throw tooMany('There are too many WebSockets here already')
      taken.set(endpoint, counts)
      const change = (by: 1 | -1) => {
        counts.all += by
        if (isAnonymous) counts.anonymous += by
        const now = (counts.byCaller.get(name) ?? 0) + by
        if (now > 0) counts.byCaller.set(name, now)
        else counts.byCaller.delete(name)
      }
      change(1)
      let isFree = false
      return {
        release: () => {
          if (!isFree) change(-1)
          isFree = true
        },
      }
    },
    accept: ({ request, connection, head, session, slot, countMessage, ended }) => {
      let isAccepted = false
      library.handleUpgrade(request, connection, head, (ws) => {
        isAccepted = true
        const end = () =>
          socket.close(CLOSE.policyViolation, 'the API key ended, or its rights changed; connect again')
        const released = () => {
          ended.removeEventListener('abort', end)
          remove(socket)
          slot.release()
        }
        const socket = new OpenSocket({ ws, session, countMessage, unread, released })
        add(socket)
        ended.addEventListener('abort', end, { once: true })
        if (ended.aborted) end()
        if (isClosing) socket.close(CLOSE.goingAway, GOING_AWAY)
      })
      if (!isAccepted) slot.release()
      return isAccepted
    },
    closeAll: () => {
      isClosing = true
      for (const socket of open) socket.close(CLOSE.goingAway, GOING_AWAY)
    },
    endAll: () => {
      for (const socket of open) socket.terminate(GOING_AWAY)
    },
  }
}

const GOING_AWAY = 'the service is shutting down'

function shuttingDown(): AppError {
  return new AppError('plugin_unavailable', 'The service is shutting down. Connect again.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

function tooMany(detail: string): AppError {
  return new AppError('rate_limited', `${detail}, the maximum; close one, or try again later.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}
