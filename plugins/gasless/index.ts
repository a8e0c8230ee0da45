import { setTimeout as sleep } from 'node:timers/promises'
import { apiFor, callerIn, createFairQueue } from '../shared/fair.ts'
import { type HostApi, type HostStore, isRecord, type PluginCall } from '../shared/host.ts'
import { createRefusalLog } from '../shared/refusals.ts'
import { readSettings, type Settings } from './config.ts'
import { engineStatus, relay } from './engine.ts'
import { RpcError, toRpcError } from './errors.ts'
import { noteEvent } from './events.ts'
import { answer } from './rpc.ts'
import { answerMessage, closeSocket, openSocket, type Socket } from './sockets.ts'

const queue = createFairQueue()
const logRefusal = createRefusalLog({ now: Date.now, write: (line) => console.warn(line) })

/** The most requests of a batch of JSON-RPC. */
const MAX_BATCH = 20

/**
 * Answers `relayer_*` at `/rpc`, and the routes of thirdweb Engine for forwarders: `POST /relayer/{id}` and
 * `GET /transaction/status/{id}`. Failures of JSON-RPC are answers with HTTP 200: its clients repeat a send
 * by themselves after most other statuses.
 */
export async function handler(call: PluginCall): Promise<unknown> {
  const { params, method, route } = call
  const [path, id = ''] = pathOf(route)
  if (method === 'POST' && path === 'relayer') return relay(id, params, contextOf(call))
  if (method === 'GET' && path === 'transaction') return engineStatus(id, contextOf(call))
  if (method !== 'POST' || path !== 'rpc') throw notFound()
  if (!Array.isArray(params)) return answerOne(call, params)
  if (params.length > 0 && params.length <= MAX_BATCH)
    return Promise.all(params.map((request: unknown) => answerOne(call, request)))
  const error = new RpcError('invalidRequest', `A batch has 1 to ${MAX_BATCH} requests.`)
  return { jsonrpc: '2.0', id: null, error: error.toJson() }
}

/** Notes how requests ended, so that nobody has to look them up later. A hook of the service. */
export async function on_event({
  params,
  config,
  api: memory,
  kv,
}: {
  readonly params: unknown
  readonly config?: unknown
  readonly api: HostApi
  readonly kv: HostStore
}): Promise<void> {
  const world = { api: memory, memory, kv, now: Date.now, sleep }
  await noteEvent(params, settingsOf(config), world)
}

/** What the service hands over with a WebSocket. */
interface SocketContext {
  readonly socket: Socket
  readonly params: { readonly data?: string }
}

/** Accepts a WebSocket at `/ws`, where a client follows its requests. */
export function on_socket_open({ socket }: SocketContext): void {
  openSocket(socket)
}

/** Answers `subscribe` and `unsubscribe`. */
export async function on_socket_message(call: PluginCall & SocketContext): Promise<void> {
  const { socket, params } = call
  await answerMessage(params.data ?? '', { socket, ...contextOf(call) })
}

/** Forgets what a WebSocket followed. */
export function on_socket_close({ socket }: SocketContext): void {
  closeSocket(socket)
}

function pathOf(route: string): readonly string[] {
  const [, status] = /^\/transaction\/status\/([^/]+)\/?$/.exec(route) ?? []
  if (status !== undefined) return ['transaction', decode(status)]
  const [, relayer] = /^\/relayer\/([^/]+)\/?$/.exec(route) ?? []
  if (relayer !== undefined) return ['relayer', decode(relayer)]
  return /^\/rpc\/?$/.test(route) ? ['rpc'] : []
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function notFound(): Error {
  const message = 'The plugin has POST /rpc, POST /relayer/{id} and GET /transaction/status/{id}.'
  return Object.assign(new Error(message), { name: 'PluginError', status: 404, code: 'not_found' })
}

function contextOf({ config, headers, api: memory, kv }: PluginCall) {
  const caller = callerIn(headers)
  const clock = { now: Date.now, sleep }
  const api = apiFor(caller, { api: memory, ...clock }, queue)
  return { world: { api, memory, kv, ...clock }, settings: settingsOf(config), caller: caller.key }
}

async function answerOne(call: PluginCall, request: unknown): Promise<object> {
  const id = isRecord(request) ? (request.id ?? null) : null
  try {
    if (!isRecord(request) || request.jsonrpc !== '2.0' || typeof request.method !== 'string')
      throw new RpcError('invalidRequest', 'Expected one request of JSON-RPC 2.0.')
    const result = await answer(request.method, { ...contextOf(call), params: request.params })
    return { jsonrpc: '2.0', id, result }
  } catch (error) {
    const known = toRpcError(error)
    if (known === undefined) console.error(error)
    else logRefusal(known.kind, known.message)
    const shown = known ?? new RpcError('internal', 'Something went wrong. The log has the reason.')
    return { jsonrpc: '2.0', id, error: shown.toJson() }
  }
}

/** The newest configuration and what was read from it: the same object comes with many calls. */
let newest: { readonly text: string; readonly settings: Settings } | undefined

function settingsOf(config: unknown): Settings {
  const text = JSON.stringify(config ?? {})
  if (newest?.text !== text) newest = { text, settings: readSettings(config) }
  return newest.settings
}
