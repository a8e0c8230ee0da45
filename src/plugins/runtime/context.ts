import { setTimeout } from 'node:timers/promises'
import { readJson, request, writeJson } from './channel.ts'
import { PluginError, pluginError } from './sdk.ts'

/** What the service answered to a request of the plugin. */
interface ApiAnswer {
  readonly status: number
  readonly body: unknown
}

/** A request to the API of the service with the key of the plugin. */
export interface ApiRequest {
  readonly method: string
  /** Begins with `/api/v1/`. */
  readonly path: string
  readonly body?: unknown
  readonly idempotencyKey?: string
  /** The user for whom the request is; its limits are the `user_limits` of the plugin's rules. */
  readonly userId?: string
}

type SendOptions = Pick<ApiRequest, 'idempotencyKey' | 'userId'>

interface WaitOptions {
  /** Has no effect: the service answers when the status changes. */
  readonly interval?: number
  /** Milliseconds. Default: 60,000. */
  readonly timeout?: number
}

/** The milliseconds of one request that waits; the service answers one within its own time limit. */
const WAIT_MS = 20_000
const WAIT_TIMEOUT_MS = 60_000

const FINAL = ['confirmed', 'failed', 'canceled', 'expired']

/** Makes a request to the API. */
async function callApi({ method, path, body, idempotencyKey, userId }: ApiRequest): Promise<ApiAnswer> {
  const answer = await request({
    type: 'api',
    method,
    path,
    body: body === undefined ? undefined : writeJson(body),
    idempotencyKey: idempotencyKey ?? undefined,
    userId: userId ?? undefined,
  })
  const { status, text } = answer as { readonly status: number; readonly text: string }
  return { status, body: isJson(text) ? readJson(text) : text }
}

function isJson(text: string): boolean {
  return /^[[{"\d\-tfn]/.test(text) && !/^OK$/.test(text)
}

/**
 * Returns the `data` of a success. @throws PluginError with the sentence, the code and the status of a
 * failure
 */
async function dataOf(apiRequest: ApiRequest): Promise<Record<string, unknown>> {
  const { status, body } = await callApi(apiRequest)
  const { success, data, error, code } = (body ?? {}) as Readonly<Record<string, unknown>>
  if (success === true) return data as Record<string, unknown>
  const message = typeof error === 'string' ? error : `The service answered ${status}.`
  throw new RelayerError(message, { status, code: typeof code === 'string' ? code : undefined })
}

/**
 * The service refused a request. The caller of the plugin sees it as an unexpected error unless the plugin
 * translates it: what the plugin may do is no business of its callers.
 */
class RelayerError extends Error {
  override readonly name = 'RelayerError'
  readonly status: number
  readonly code: string | undefined

  constructor(
    message: string,
    { status, code }: { readonly status: number; readonly code: string | undefined },
  ) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Writes a path of the API. @throws RelayerError for a part that would name another path */
function pathOf(...parts: readonly unknown[]): string {
  const names = parts.map(String)
  const bad = names.find((name) => /^\.{0,2}$/.test(name))
  if (bad !== undefined)
    throw new RelayerError(`There is no "${bad}".`, { status: 404, code: 'relayer_not_found' })
  return `/api/v1/${names.map(encodeURIComponent).join('/')}`
}

/** As in OpenZeppelin Relayer, nothing is thrown before a method is called, and then its promise rejects. */
function relayer(id: string) {
  const at = (...parts: readonly unknown[]) => pathOf('relayers', id, ...parts)
  return {
    sendTransaction: async (payload: unknown, options?: SendOptions | null) => {
      const sent = await dataOf({ method: 'POST', path: at('transactions'), body: payload, ...options })
      return { ...sent, wait: (waitOptions?: WaitOptions | null) => waitFor(sent as never, waitOptions) }
    },
    getTransaction: async (asked?: { readonly transactionId: string } | null) =>
      dataOf({ method: 'GET', path: at('transactions', asked?.transactionId) }),
    getRelayer: async () => dataOf({ method: 'GET', path: at() }),
    getRelayerStatus: async () => dataOf({ method: 'GET', path: at('status') }),
    signTransaction: async (payload: unknown, options?: SendOptions | null) =>
      dataOf({ method: 'POST', path: at('sign-transaction'), body: payload, ...options }),
    rpc: async (payload: unknown) => {
      const { status, body } = await callApi({ method: 'POST', path: at('rpc'), body: payload })
      if (status === 200) return body
      const { error, code } = (body ?? {}) as { readonly error?: string; readonly code?: string }
      throw new RelayerError(error ?? `The service answered ${status}.`, { status, code })
    },
  }
}

interface Sent {
  readonly id: string
  readonly relayer_id: string
  readonly network_type?: string
}

async function waitFor(
  { id, relayer_id, network_type }: Sent,
  options?: WaitOptions | null,
): Promise<Record<string, unknown>> {
  // Zero is the default as well, as in OpenZeppelin Relayer.
  const timeout = options?.timeout || WAIT_TIMEOUT_MS
  // Plugins expect that a transaction is in a block, and on Stellar, where a ledger is final, that it is
  // confirmed.
  const goal = network_type === 'stellar' ? 'confirmed' : 'mined'
  const endsAt = performance.now() + timeout
  const at = pathOf('relayers', relayer_id, 'transactions', id)
  for (;;) {
    const left = endsAt - performance.now()
    if (left <= 0) break
    const seconds = Math.max(1, Math.ceil(Math.min(left, WAIT_MS) / 1_000))
    const asked = dataOf({ method: 'GET', path: `${at}?wait=${goal}&timeout=${seconds}` })
    const late = new AbortController()
    const found = await Promise.race([
      asked,
      setTimeout(left, undefined, { signal: late.signal }).catch(() => undefined),
    ])
    late.abort()
    if (found === undefined) break
    if (found.status === goal || FINAL.includes(String(found.status))) return found
  }
  throw new PluginError(`Transaction ${id} was not included within ${timeout} ms.`, {
    code: 'WAIT_TIMEOUT',
    status: 504,
  })
}

/** The API of the service for handlers. */
export const api = {
  useRelayer: relayer,
  transactionWait: async (transaction: Sent, options?: WaitOptions | null) => waitFor(transaction, options),
  /** Any operation of the contract. */
  request: callApi,
}

interface LockOptions {
  /** Seconds. Default: 30. The lock ends then even if the work does not. */
  readonly ttlSec?: number | null
  /** If another call has the lock: fail, or return null. Default: `throw`. */
  readonly onBusy?: 'throw' | 'skip' | null
}

interface ValueOptions {
  /** Whole seconds, if above 0; otherwise the value stays. */
  readonly ttlSec?: number | null
}

/** A number that JSON can carry. One that is too large for the store is refused there. */
function secondsOf(ttlSec: unknown): number {
  const seconds = Number(ttlSec)
  return Number.isNaN(seconds) ? 0 : Math.min(seconds, Number.MAX_SAFE_INTEGER)
}

/**
 * The values and locks of the plugin, shared by all processes of the service. At their edges they do what
 * OpenZeppelin Relayer does.
 */
export const kv = {
  get: async (key: unknown) => request({ type: 'kv', operation: 'get', key: String(key) }),
  set: async (key: unknown, value: unknown, options?: ValueOptions | null) => {
    if (value === undefined) throw new Error('value must not be undefined')
    const seconds = Math.floor(secondsOf(options?.ttlSec ?? 0))
    const ttlSec = seconds > 0 ? seconds : undefined
    return request({ type: 'kv', operation: 'set', key: String(key), value: writeJson(value), ttlSec })
  },
  del: async (key: unknown) => request({ type: 'kv', operation: 'del', key: String(key) }),
  exists: async (key: unknown) => request({ type: 'kv', operation: 'exists', key: String(key) }),
  listKeys: async (pattern: unknown = '*') =>
    request({ type: 'kv', operation: 'list', key: String(pattern) }),
  clear: async () => request({ type: 'kv', operation: 'clear', key: '' }),
  withLock: async (given: unknown, work: () => Promise<unknown>, options?: LockOptions | null) => {
    const key = String(given)
    const owner = crypto.randomUUID()
    const ttlSec = secondsOf(options?.ttlSec ?? LOCK_SECONDS)
    const isMine = await request({ type: 'kv', operation: 'lock', key, value: owner, ttlSec })
    if (isMine !== true) {
      if (options?.onBusy === 'skip') return null
      throw pluginError(`The lock ${key} is held by another call.`, { code: 'LOCK_BUSY', status: 409 })
    }
    try {
      return await work()
    } finally {
      await request({ type: 'kv', operation: 'unlock', key, value: owner })
    }
  },
}

const LOCK_SECONDS = 30
