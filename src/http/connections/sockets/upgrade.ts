import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ANONYMOUS, requireScope } from '../../../access/principal.ts'
import { AppError } from '../../../errors.ts'
import { type Authenticate, limitKeyOf, requireCredential } from '../../auth.ts'
import { countRequest } from '../../guards.ts'
import type { RateLimiter } from '../../rate-limit.ts'
import type { Mount } from '../../server-options.ts'
import type { Guard, HttpContext, Middleware } from '../../state.ts'
import type { Peers } from '../peer.ts'
import type { SocketMount } from './endpoint.ts'
import type { Sockets } from './sockets.ts'

/** The time in ms that a refused caller has to read the answer. */
const REFUSAL_MS = 10_000

/** Holds what arrived after the headers of a request that Node has handed over. */
type Handed = { readonly connection: Duplex; readonly head: Buffer }

/** The requests to open a WebSocket. Node no longer looks after their connections. */
export interface Upgrades {
  /** Answers upgrade requests with the middleware, like any other request. */
  listener(answer: RequestListener): (request: IncomingMessage, connection: Duplex, head: Buffer) => void
  /** Undefined for a request that Node serves itself. */
  find(request: IncomingMessage): Handed | undefined
}

/** Creates the list of the requests that Node hands over. */
export function createUpgrades(): Upgrades {
  const handed = new WeakMap<IncomingMessage, Handed>()
  return {
    listener: (answer) => (request, connection, head) => {
      handed.set(request, { connection, head })
      const socket = connection as Socket
      const response = new ServerResponse(request)
      response.shouldKeepAlive = false
      response.assignSocket(socket)
      socket.on('error', () => socket.destroy())
      socket.setTimeout(REFUSAL_MS, () => socket.destroy())
      response.once('finish', () => socket.destroySoon())
      answer(request, response)
    },
    find: (request) => handed.get(request),
  }
}

/**
 * Returns whether a request asks for a WebSocket, and has no body. Node serves the others as if they did not
 * ask.
 */
export function isUpgrade({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  return method === 'GET' && !hasBody && asksForSocket(headers)
}

function asksForSocket({ upgrade = '' }: IncomingMessage['headers']): boolean {
  return upgrade.trim().toLowerCase() === 'websocket'
}

/**
 * Gives a request the mount whose path for WebSockets it names. The key in its query becomes the header where
 * the mount wants that, so that no later part sees it in the query.
 */
export function resolveSocket(context: HttpContext, mount: Mount, rest: string): void {
  const { sockets } = mount
  if (sockets === undefined || rest !== sockets.path || !asksForSocket(context.headers)) return
  context.state.socketMount = { ...mount, sockets }
  const { keyParameter } = sockets
  if (keyParameter === undefined) return
  const query = new URLSearchParams(context.querystring)
  const keys = query.getAll(keyParameter)
  if (keys.length === 0) return
  query.delete(keyParameter)
  context.querystring = query.toString()
  context.req.headers.authorization ??= `Bearer ${keys.join(' ')}`
}

interface AcceptOptions {
  readonly sockets: Sockets
  readonly upgrades: Upgrades
  readonly authenticate: Authenticate
  readonly limiter: RateLimiter
  readonly peers: Peers
  readonly guard: Guard
}

/**
 * Opens the WebSockets of mounts: rate limit, origin, credential, scope, number, and then the handshake.
 * Every refusal is an answer of HTTP, also that of a WebSocket at any other path.
 */
export function acceptSockets(options: AcceptOptions): Middleware {
  return async function acceptSockets(context, next) {
    if (!asksForSocket(context.headers)) return next()
    const { socketMount: mount } = context.state
    const handed = options.upgrades.find(context.req)
    if (mount === undefined || handed === undefined) {
      options.guard(context)
      throw new AppError(
        'not_supported',
        'There is no WebSocket at this path. Send the request without Upgrade.',
      )
    }
    await accept(options, { context, mount, handed })
  }
}

interface Accepting {
  readonly context: HttpContext
  readonly mount: SocketMount
  readonly handed: Handed
}

async function accept(
  { sockets, authenticate, limiter, peers }: AcceptOptions,
  { context, mount, handed }: Accepting,
): Promise<void> {
  const { state, req } = context
  const endpoint = mount.sockets
  const caller = authenticate(context)
  countRequest(limiter, { context, key: caller.limitKey })
  requireOrigin(context, mount.corsOrigins)
  if (state.isOpen !== true) requireCredential(caller)
  const principal = state.isOpen === true ? ANONYMOUS : (caller.principal ?? ANONYMOUS)
  const isAnonymous = principal === ANONYMOUS
  const name = isAnonymous ? caller.limitKey : limitKeyOf(principal)
  state.caller = name
  if (!isAnonymous) {
    state.apiKeyId = principal.id
    requireScope(principal, endpoint.scope)
  }
  requireHandshake(context)
  const slot = sockets.take(endpoint, { name, isAnonymous })
  try {
    const session = await endpoint.prepare({
      requestId: state.requestId,
      actor: {
        keyId: principal.id,
        person: principal.person,
        address: peers.ofRequest(req),
        requestId: state.requestId,
        rules: principal.rules,
      },
      route: `/${endpoint.path}`,
      query: queryOf(context),
      headers: context.headers,
    })
    const countMessage = () => limiter.take(name).waitSeconds
    context.respond = false
    const isOpen = sockets.accept({
      request: req,
      ...handed,
      session,
      slot,
      countMessage,
      ended: principal.ended,
    })
    context.res.statusCode = isOpen ? 101 : 400
  } catch (error) {
    slot.release()
    throw error
  }
}

/**
 * A page of another origin may open a WebSocket only where it may send requests (CORS). Browsers do not ask
 * before they open one, and always send the origin; other programs send none.
 * @throws AppError `unauthorized`
 */
function requireOrigin(context: HttpContext, origins: readonly string[]): void {
  const origin = context.get('Origin')
  if (origin === '' || origins.includes('*') || origins.includes(origin)) return
  throw new AppError(
    'unauthorized',
    'Pages of this origin may not open WebSockets here: it is not among cors_origins of the plugin.',
  )
}

/** @throws AppError `invalid_request` for a handshake that is not that of RFC 6455 */
function requireHandshake(context: HttpContext): void {
  const isWhole =
    /^[+/0-9A-Za-z]{22}==$/.test(context.get('Sec-WebSocket-Key')) &&
    context.get('Sec-WebSocket-Version') === '13'
  if (isWhole) return
  context.set('Sec-WebSocket-Version', '13')
  throw new AppError(
    'invalid_request',
    'The handshake of a WebSocket has the headers Sec-WebSocket-Key and Sec-WebSocket-Version: 13.',
  )
}

function queryOf({ querystring }: HttpContext): Record<string, string[]> {
  const query = new URLSearchParams(querystring)
  return Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name)]))
}
