import { isRecord, Unavailable, type World } from '../shared/host.ts'
import type { Settings } from './config.ts'
import type { Name } from './content.ts'
import { invalid, RpcError, toRpcError } from './errors.ts'
import { findRequest, readStatus } from './progress.ts'
import { asDraft, isTerminal, type RelayStatus } from './status.ts'
import { readId } from './wire.ts'

/** A WebSocket of a caller, as the service hands it over. */
export interface Socket {
  readonly id: string
  readonly isOpen: boolean
  send(text: string): void
}

/** Where a message comes from, and what answers it. */
export interface SocketCall {
  readonly socket: Socket
  readonly world: World
  readonly settings: Settings
  /** The id of the API key that asks; all callers without one share another. */
  readonly caller: string
}

/** Who is told of a request. */
interface Subscription {
  readonly id: string
  readonly socket: Socket
  /** The newest status that the subscriber knows. */
  told: number | undefined
}

/** Requests that one socket follows at the same time. */
const MAX_PER_SOCKET = 20

/** Requests that all sockets of a process follow at the same time: each is asked about again and again. */
const MAX_FOLLOWED = 100

/** Time in ms between two questions about a request; a changed status is told after it at the latest. */
const LOOK_MS = 2_000

/** Nobody waits longer for a request, in ms. Its end can still be asked for. */
const LONGEST_MS = 3_600_000

/** Time in ms between two signs of life; its clients connect again after 60 s without one. */
const PING_MS = 25_000

const NAMES: Readonly<Record<RelayStatus['status'], string>> = {
  100: 'transaction.pending',
  110: 'transaction.submitted',
  200: 'transaction.success',
  210: 'transaction.success',
  400: 'transaction.rejected',
  500: 'transaction.reverted',
}

const sockets = new Set<Socket>()

/** The followers of a request, by the idempotency key of its transaction. */
const subscriptions = new Map<string, Set<Subscription>>()
let begun = 0

setInterval(() => {
  for (const socket of sockets) socket.send(JSON.stringify({ type: 'ping' }))
}, PING_MS).unref()

/** Begins to send signs of life. */
export function openSocket(socket: Socket): void {
  sockets.add(socket)
}

/** Forgets a socket and what it follows. */
export function closeSocket({ id }: Socket): void {
  for (const socket of sockets) if (socket.id === id) sockets.delete(socket)
  for (const each of subscriptions.values())
    for (const subscription of each) if (subscription.socket.id === id) each.delete(subscription)
}

/** Answers a message: `subscribe` and `unsubscribe` of JSON-RPC, and signs of life. */
export async function answerMessage(text: string, call: SocketCall): Promise<void> {
  const message = parse(text)
  if (!isRecord(message)) return reply(call, null, new RpcError('invalidRequest', 'Expected JSON-RPC 2.0.'))
  if (message.type === 'pong') return
  if (message.type === 'ping') return call.socket.send(JSON.stringify({ type: 'pong' }))
  const id = message.id ?? null
  try {
    const result = await answer(message, call)
    call.socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...result.reply }))
    result.begin?.()
  } catch (error) {
    const known = toRpcError(error)
    if (known === undefined) console.error(error)
    reply(call, id, known ?? new RpcError('internal', 'Something went wrong. The log has the reason.'))
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function reply({ socket }: SocketCall, id: unknown, error: RpcError): void {
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, error: error.toJson() }))
}

/** An answer, and what follows it: a notification must not come before the id that it names. */
interface Result {
  readonly reply: { readonly result: unknown }
  readonly begin?: () => void
}

async function answer({ method, params }: Record<string, unknown>, call: SocketCall): Promise<Result> {
  const [first] = Array.isArray(params) ? (params as readonly unknown[]) : []
  if (method === 'subscribe') return subscribe(first, call)
  if (method === 'unsubscribe') return { reply: { result: unsubscribe(first, call.socket) } }
  throw new RpcError(
    'methodNotFound',
    'A WebSocket has subscribe and unsubscribe. Send other methods by HTTP to /rpc.',
  )
}

async function subscribe(asked: unknown, call: SocketCall): Promise<Result> {
  // Requests of others are nobody's business, so there is no subscription to all of them.
  if (!isRecord(asked) || asked.transactionId === undefined)
    throw invalid('params[0].transactionId: expected the id of a request.')
  const { socket, world, settings, caller } = call
  const id = readId({ id: asked.transactionId })
  const { key } = await findRequest({ id, caller }, settings, world)
  const own = [...subscriptions.values()].filter((each) =>
    [...each].some((one) => one.socket.id === socket.id),
  )
  if (own.length >= MAX_PER_SOCKET)
    throw new RpcError(
      'rateLimit',
      `A WebSocket follows at most ${MAX_PER_SOCKET} requests at the same time.`,
    )
  if (!subscriptions.has(key) && subscriptions.size >= MAX_FOLLOWED)
    throw new RpcError('rateLimit', 'Too many requests are followed. Ask for the status by HTTP.')
  begun += 1
  const subscription: Subscription = { id: `0x${begun.toString(16)}`, socket, told: undefined }
  const begin = () => {
    const others = subscriptions.get(key)
    if (others !== undefined) others.add(subscription)
    else {
      subscriptions.set(key, new Set([subscription]))
      void follow({ id, key }, call).finally(() => subscriptions.delete(key))
    }
  }
  return { reply: { result: subscription.id }, begin }
}

function unsubscribe(id: unknown, socket: Socket): boolean {
  for (const each of subscriptions.values())
    for (const one of each) if (one.id === id && one.socket.id === socket.id) return each.delete(one)
  return false
}

/** Asks about a request until nothing changes any more or nobody listens, and tells each change. */
async function follow({ id, key }: Name, { settings, world, caller }: SocketCall): Promise<void> {
  const end = world.now() + LONGEST_MS
  while (world.now() < end) {
    const listening = subscriptions.get(key)
    if (listening === undefined || listening.size === 0) return
    try {
      const status = await readStatus(await findRequest({ id, caller }, settings, world), settings, world)
      for (const one of listening) tell(one, asDraft(status))
      if (isTerminal(status)) return
    } catch (error) {
      if (!(error instanceof Unavailable)) console.error(error)
    }
    await world.sleep(LOOK_MS)
  }
}

function tell(subscription: Subscription, data: RelayStatus): void {
  if (subscription.told === data.status) return
  subscription.told = data.status
  const params = { subscription: subscription.id, result: { event: NAMES[data.status], data } }
  subscription.socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'subscription', params }))
}
