/**
 * The messages between the service and the process of a plugin: lines of JSON in both directions. Parameters
 * and results are JSON texts inside them, so that the service passes them on without a change. What a plugin
 * sends is checked field by field, because its code may be hostile.
 */

/** A call of an exported function. */
export interface CallMessage {
  readonly type: 'call'
  /** Identifies the call. */
  readonly run: number
  /** The name of the exported function, such as `handler`. */
  readonly entry: string
  /** JSON. */
  readonly params: string
  /** JSON; absent if the plugin has no configuration. */
  readonly config?: string | undefined
  readonly route: string
  readonly method: string
  readonly query: Readonly<Record<string, readonly string[]>>
  readonly headers: Readonly<Record<string, readonly string[]>>
  /** The body as it arrived; absent if the entry of the plugin does not ask for it. */
  readonly body?: string | undefined
  /** The number of the WebSocket on which something happened; absent for any other call. */
  readonly socket?: number | undefined
}

/**
 * The exported functions that get what happens on WebSockets. A plugin with WebSockets must have the one for
 * messages.
 */
export const ON_SOCKET = {
  open: 'on_socket_open',
  message: 'on_socket_message',
  close: 'on_socket_close',
} as const

/** The answer to a request of the plugin. */
export type AnswerMessage = {
  readonly type: 'answer'
  readonly id: number
} & ({ readonly value: string } | { readonly error: PluginErrorFields })

/** A message to a plugin. A `pong` must follow a `ping` soon, or the process counts as blocked. */
export type ToPlugin = CallMessage | AnswerMessage | { readonly type: 'ping' }

/** The fields of an error of a plugin. */
export interface PluginErrorFields {
  readonly message: string
  readonly code?: string | undefined
  /** 400 to 599. */
  readonly status?: number | undefined
  /** JSON. */
  readonly details?: string | undefined
}

/** The levels of `console`. */
export const LOG_LEVELS = ['debug', 'log', 'info', 'warn', 'error'] as const
export type PluginLogLevel = (typeof LOG_LEVELS)[number]

/** A request of the plugin to the API of the service. */
export interface ApiMessage {
  readonly type: 'api'
  readonly id: number
  readonly run: number
  readonly method: string
  readonly path: string
  /** JSON. */
  readonly body?: string | undefined
  readonly idempotencyKey?: string | undefined
  /** The header `User-Id`. */
  readonly userId?: string | undefined
}

/** The operations on the store of a plugin. */
export const KV_OPERATIONS = ['get', 'set', 'del', 'exists', 'list', 'clear', 'lock', 'unlock'] as const

/** An operation on the store of the plugin. */
export interface KvMessage {
  readonly type: 'kv'
  readonly id: number
  readonly operation: (typeof KV_OPERATIONS)[number]
  /** A key, or the pattern of `list`. */
  readonly key: string
  /** JSON for `set`, the owner for `lock` and `unlock`. */
  readonly value?: string | undefined
  readonly ttlSec?: number | undefined
}

/** A message from a plugin. */
export type FromPlugin =
  | { readonly type: 'ready'; readonly entries: readonly string[] }
  | { readonly type: 'result'; readonly run: number; readonly value: string }
  | {
      readonly type: 'failure'
      readonly run: number
      readonly isChosen: boolean
      readonly error: PluginErrorFields
    }
  | { readonly type: 'log'; readonly run: number; readonly level: PluginLogLevel; readonly message: string }
  | { readonly type: 'fatal'; readonly message: string }
  | { readonly type: 'pong' }
  /**
   * A request that is not allowed. Who receives the messages of a process puts it in the place of the
   * request.
   */
  | { readonly type: 'refused'; readonly id: number; readonly reason: string }
  /** Sends a text to a WebSocket, whose number is `run`. */
  | { readonly type: 'send'; readonly run: number; readonly data: string }
  /** Closes a WebSocket. */
  | { readonly type: 'close'; readonly run: number; readonly code: number; readonly reason: string }
  | ApiMessage
  | KvMessage

/** Receives what a process sends, and its end. */
export interface PluginListener {
  message(message: FromPlugin): void
  /** Called once, with the reason in words. */
  ended(reason: string): void
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** A path of the API, in characters that cannot end a line of HTTP. */
const API_PATH = /^\/api\/v1\/[!-~]{1,4000}$/

/** Header values, in characters that cannot end a line of HTTP. */
const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/
const USER_ID = /^[!-~]{1,128}$/

/** Reads a line of a plugin; undefined for anything that is no such message. */
export function readMessage(line: string): FromPlugin | undefined {
  const message = parse(line)
  if (message === undefined) return undefined
  const { type, id, run, value, path, method, key } = message
  switch (type) {
    case 'ready':
      return isTexts(message.entries) ? { type, entries: message.entries } : undefined
    case 'pong':
      return { type }
    case 'refused':
      return isId(id) && typeof message.reason === 'string'
        ? { type, id, reason: cut(message.reason) }
        : undefined
    case 'fatal':
      return typeof message.message === 'string' ? { type, message: cut(message.message) } : undefined
    case 'result':
      return isId(run) && typeof value === 'string' ? { type, run, value } : undefined
    case 'failure': {
      const error = readError(message.error)
      return isId(run) && error ? { type, run, error, isChosen: message.isChosen === true } : undefined
    }
    case 'log': {
      const level = LOG_LEVELS.find((known) => known === message.level)
      const text = message.message
      return isId(run) && level && typeof text === 'string'
        ? { type, run, level, message: cut(text) }
        : undefined
    }
    case 'send':
      return isId(run) && typeof message.data === 'string' ? { type, run, data: message.data } : undefined
    case 'close': {
      const { code, reason } = message
      return isId(run) && isCloseCode(code) && typeof reason === 'string'
        ? { type, run, code, reason: cut(reason) }
        : undefined
    }
    case 'api': {
      const { body, idempotencyKey, userId } = message
      if (!isId(id) || !isId(run) || !isOneOf(METHODS, method) || !isMatch(API_PATH, path)) return undefined
      if (!isTextOrAbsent(body)) return undefined
      if (idempotencyKey !== undefined && !isMatch(IDEMPOTENCY_KEY, idempotencyKey)) return undefined
      if (userId !== undefined && !isMatch(USER_ID, userId)) return undefined
      return { type, id, run, method, path, body, idempotencyKey, userId }
    }
    case 'kv': {
      const operation = KV_OPERATIONS.find((known) => known === message.operation)
      const { ttlSec } = message
      if (!isId(id) || operation === undefined || typeof key !== 'string') return undefined
      if (!isTextOrAbsent(value) || (ttlSec !== undefined && typeof ttlSec !== 'number')) return undefined
      return { type, id, operation, key, value, ttlSec }
    }
    default:
      return undefined
  }
}

/**
 * Characters of a log line, and of the reason for an end. Lines are kept, so longer ones would fill the
 * memory of the service.
 */
export const MAX_LOG_LINE = 8_192

/** Characters of the code of an error. */
const MAX_CODE = 256

function cut(text: string): string {
  return text.slice(0, MAX_LOG_LINE)
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function readError(value: unknown): PluginErrorFields | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { message, code, status, details } = value as Readonly<Record<string, unknown>>
  if (typeof message !== 'string' || !isTextOrAbsent(code) || !isTextOrAbsent(details)) return undefined
  const isStatus = Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599
  return {
    message: cut(message),
    code: code?.slice(0, MAX_CODE),
    details,
    status: isStatus ? (status as number) : undefined,
  }
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

/** The codes with which a program may close a WebSocket: 1000, and those for applications. */
export function isCloseCode(value: unknown): value is number {
  return value === 1_000 || (Number.isInteger(value) && Number(value) >= 3_000 && Number(value) <= 4_999)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= 100 && value.every((item) => typeof item === 'string')
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}

function isOneOf(values: readonly string[], value: unknown): value is string {
  return typeof value === 'string' && values.includes(value)
}

function isMatch(pattern: RegExp, value: unknown): value is string {
  return typeof value === 'string' && pattern.test(value)
}

/** The longest line in characters. A result of 4 MiB can double when it becomes a text inside a message. */
export const MAX_LINE = 12 * 1024 * 1024

/** The characters of a line that is too long after which its end is no longer waited for. */
const MAX_DROPPED = 4 * MAX_LINE

/** The characters of such a line that are kept. They name what it is. */
const HEAD = 200

/**
 * Creates a reader that collects pieces of text and hands over whole lines. Of a line that is too long only
 * the beginning is kept, for `onTooLong`. It returns false, and must not be called again, when such a line
 * does not end: a plugin must not fill the memory of the service.
 */
export function createLineReader(
  onLine: (line: string) => void,
  onTooLong: (head: string) => void = () => undefined,
): (piece: string) => boolean {
  let begun: string[] = []
  let length = 0
  const add = (piece: string) => {
    length += piece.length
    if (length <= MAX_LINE) begun.push(piece)
    else begun = [begun.join('').slice(0, HEAD) || piece.slice(0, HEAD)]
  }
  return (piece) => {
    const lines = piece.split('\n')
    const last = lines.pop() ?? ''
    for (const line of lines) {
      add(line)
      if (length > MAX_LINE) onTooLong(begun.join(''))
      else onLine(begun.join(''))
      begun = []
      length = 0
    }
    if (last !== '') add(last)
    return length <= MAX_DROPPED
  }
}
