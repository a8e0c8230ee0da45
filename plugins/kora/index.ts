import { setTimeout as sleep } from 'node:timers/promises'
import { apiFor, callerIn, createFairQueue } from '../shared/fair.ts'
import { isRecord, type PluginCall } from '../shared/host.ts'
import { createRefusalLog } from '../shared/refusals.ts'
import { callerOf, requirePerson } from './auth.ts'
import { readSettings } from './config.ts'
import { KoraError, toKoraError } from './errors.ts'
import { answer } from './methods.ts'
import { readParams } from './params.ts'

const queue = createFairQueue()
const logRefusal = createRefusalLog({ now: Date.now, write: (line) => console.warn(line) })

/**
 * Answers a request of Kora's JSON-RPC. Failures are answers as well, with HTTP 200, as its clients expect.
 */
export async function handler(call: PluginCall): Promise<unknown> {
  const { params } = call
  if (!Array.isArray(params)) return answerOne(call, params)
  if (params.length > 0 && params.length <= MAX_BATCH)
    return Promise.all(params.map((request: unknown) => answerOne(call, request)))
  const error = new KoraError('InvalidJsonRpc', `A batch has 1 to ${MAX_BATCH} requests.`)
  return { jsonrpc: '2.0', id: null, error: error.toJson() }
}

/** The most requests of a batch. */
const MAX_BATCH = 20

async function answerOne(call: PluginCall, request: unknown): Promise<object> {
  const id = isRecord(request) ? (request.id ?? null) : null
  try {
    return { jsonrpc: '2.0', id, result: await respond(call, request) }
  } catch (error) {
    const known = toKoraError(error)
    if (known === undefined) console.error(error)
    else logRefusal(known.type, known.message)
    const shown =
      known ?? new KoraError('InternalServerError', 'Something went wrong. The log has the reason.')
    return { jsonrpc: '2.0', id, error: shown.toJson() }
  }
}

async function respond(call: PluginCall, request: unknown): Promise<unknown> {
  const { config, headers, api: memory, kv } = call
  if (!isRecord(request) || request.jsonrpc !== '2.0' || typeof request.method !== 'string')
    throw new KoraError('InvalidJsonRpc', 'Expected one request of JSON-RPC 2.0.')
  const settings = readSettings(config)
  const { method } = request
  const caller = method === 'liveness' ? '' : callerOf(call, settings.protection, Date.now())
  if (method !== 'liveness') await requirePerson(method, call, settings.protection)
  const clock = { now: Date.now, sleep }
  // An application with a key of the plugin is one caller, wherever its users are.
  const asker = caller === '' ? callerIn(headers) : { key: `kora ${caller}` }
  const api = apiFor(asker, { api: memory, ...clock }, queue)
  const world = { api, memory, kv, ...clock }
  return answer(method, { world, settings, params: readParams(request.params), caller })
}
