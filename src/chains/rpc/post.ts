import { AnswerTooLargeError } from '../../lib/http/byte-budget.ts'
import { readRetryAfter } from '../../lib/http/http-client.ts'
import type { Failure } from '../../networks/endpoints.ts'
import { ForbiddenAddressError } from '../../security/guarded-http-client.ts'
import { classifyNodeError, isContractsOwn, type NodeErrorRules } from './node-dialect.ts'
import type { RpcCall, RpcReply } from './rpc.ts'
import type { AnswerLimits, Transport } from './transport.ts'

/**
 * The result of one HTTP request. `batch_refused`: the endpoint accepts no batches, or none with this many
 * calls · `too_large`: the body has more bytes than the endpoint reads (HTTP 413) · `answer_too_large`: the
 * answer has more than the service reads.
 */
export type PostResult =
  | {
      readonly kind: 'replies'
      readonly replies: readonly RpcReply[]
      /** The bytes and the values of the answer. */
      readonly size: AnswerLimits
      readonly retryAfterMs?: number
    }
  | { readonly kind: 'batch_refused'; readonly detail: string }
  | { readonly kind: 'too_large'; readonly detail: string }
  | { readonly kind: 'answer_too_large'; readonly detail: string }
  | { readonly kind: 'failed'; readonly failure: Failure }

interface PostOptions {
  readonly url: string
  readonly calls: readonly RpcCall[]
  readonly timeoutMs: number
  readonly now: () => number
  /** Numbers in replies keep their spelling. */
  readonly verbatim: boolean
  readonly transport: Transport
  readonly limits: AnswerLimits
  readonly errors: NodeErrorRules
}

/**
 * Statuses of servers that will continue to refuse: a wrong key, an unpaid bill, a wrong path, a closed
 * account.
 */
const BARRED = [401, 402, 403, 404, 410]

/**
 * Parse error and invalid request (JSON-RPC 2.0, section 5.1): servers without batches answer an array like
 * this.
 */
const NOT_UNDERSTOOD = [-32700, -32600]

/**
 * Sends one HTTP request with one call or a batch. Never rejects, and repeats nothing that an endpoint can
 * have failed at.
 */
export async function post(options: PostOptions): Promise<PostResult> {
  const { url, calls, timeoutMs, now, verbatim, transport, limits, errors } = options
  try {
    const answer = await transport({ url, body: writeCalls(calls), timeoutMs, limits })
    const { retryAfter, ...told } = answer
    const retryAfterMs = readRetryAfter(retryAfter, now())
    return classifyAnswer({ ...told, count: calls.length, retryAfterMs, verbatim, errors })
  } catch (error) {
    if (error instanceof AnswerTooLargeError) return { kind: 'answer_too_large', detail: error.message }
    return { kind: 'failed', failure: reasonOf(error) }
  }
}

interface Answered {
  readonly status: number
  readonly text: string
  readonly values: number
  readonly count: number
  readonly retryAfterMs: number | undefined
  readonly verbatim: boolean
  readonly errors: NodeErrorRules
}

/**
 * The body decides, regardless of the status: nodes and gateways also put the answer to a call into an HTTP
 * error (Besu and Hiero's relay a revert into 400 or 500). Without such a body the status decides.
 */
function classifyAnswer(answered: Answered): PostResult {
  const { status, text, values, count, retryAfterMs, verbatim, errors } = answered
  const pause = retryAfterMs === undefined ? {} : { retryAfterMs }
  if (status === 413) return { kind: 'too_large', detail: told(status) }
  const body = parse(text, count, verbatim)
  if (body?.kind === 'replies' && decides(body.replies, answered)) {
    return {
      kind: 'replies',
      replies: body.replies,
      size: { bytes: Buffer.byteLength(text), values },
      ...pause,
    }
  }
  if (isThrottling(answered)) return fail('limited', told(status), pause)
  if (status >= 500) return fail('down', told(status))
  // An error page, or one error for the whole batch: the node did not process the calls, and another endpoint
  // may.
  if (body?.kind === 'error' && classifyNodeError(body, errors) === 'rate_limit')
    return fail('limited', body.message, pause)
  if (BARRED.includes(status)) return fail('barred', told(status))
  const detail = detailOf(body, status)
  const misread =
    body?.kind === 'error' && (NOT_UNDERSTOOD.includes(body.code) || /batch/i.test(body.message))
  if (count > 1 && (misread || status >= 400)) return { kind: 'batch_refused', detail }
  return fail('down', detail)
}

/** The server requests a pause. */
function isThrottling({ status, retryAfterMs }: Answered): boolean {
  return status === 429 || (status === 503 && retryAfterMs !== undefined)
}

/**
 * With a status of success one reply is enough. With an error every call must have its reply. If the status
 * is about access to the endpoint, an error says the same, and only a result or a revert shows that the node
 * processed the call.
 */
function decides(replies: readonly RpcReply[], answered: Answered): boolean {
  const { status } = answered
  if (status < 400) return replies.some((reply) => reply.kind !== 'unknown')
  const isAboutAccess = isThrottling(answered) || BARRED.includes(status)
  return replies.every((reply) =>
    isAboutAccess ? reply.kind === 'result' || isContractsOwn(reply) : reply.kind !== 'unknown',
  )
}

function parse(text: string, count: number, verbatim: boolean) {
  try {
    return readBody(verbatim ? parseVerbatim(text) : JSON.parse(text), count)
  } catch {
    return undefined
  }
}

function detailOf(body: ReturnType<typeof parse>, status: number): string {
  if (status >= 400) return told(status)
  if (body === undefined) return 'the endpoint did not answer with JSON'
  return body.kind === 'error' ? body.message : 'the endpoint answered with no reply to the call'
}

function told(status: number): string {
  return `the endpoint answered HTTP ${status}`
}

function fail(kind: Failure['kind'], detail: string, pause: { retryAfterMs?: number } = {}): PostResult {
  return { kind: 'failed', failure: { kind, detail, ...pause } }
}

/** The text contains no url, because providers put their keys there. */
function reasonOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { kind: 'down', detail: 'the request could not be sent' }
  if (error.name === 'TimeoutError') return { kind: 'slow', detail: 'the endpoint did not answer in time' }
  // Our own policy forbids the address, so a retry changes nothing.
  if (error instanceof ForbiddenAddressError) return { kind: 'barred', detail: error.message }
  const code = codeOf(error)
  return {
    kind: 'down',
    detail: `the endpoint could not be reached${code ? ` (${code})` : ''}`,
    ...(code !== undefined && NO_CONNECTION.has(code) && { unreachable: true }),
  }
}

/** Codes of Node.js for a connection that was never opened. */
const NO_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
])

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/**
 * Writes the body of an HTTP request: one call alone, or a batch whose ids are the indexes of the calls
 * (JSON-RPC 2.0, section 6).
 */
function writeCalls(calls: readonly RpcCall[]): string {
  const entries = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
  return JSON.stringify(entries.length === 1 ? entries[0] : entries)
}

/** The content of a body: a reply for each call, or one error for them all. */
type Body =
  | { readonly kind: 'replies'; readonly replies: readonly RpcReply[] }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }

/** Reads a body. A batch may come back in any order and with entries missing; missing replies are unknown. */
function readBody(body: unknown, count: number): Body {
  const replies = Array.from(
    { length: count },
    (): RpcReply => ({ kind: 'unknown', detail: 'no reply in the batch' }),
  )
  const entries: readonly unknown[] = Array.isArray(body) ? body : [body]
  for (const entry of entries) {
    const { index, reply } = readEntry(entry)
    if (index !== undefined && index < count) replies[index] = reply
    else if (index === undefined && reply.kind === 'error') return reply
  }
  // Some nodes report the refusal of a whole batch under the id of its first call.
  const [only] = replies
  if (count > 1 && entries.length === 1 && only?.kind === 'error') return only
  return { kind: 'replies', replies }
}

function readEntry(entry: unknown): { index: number | undefined; reply: RpcReply } {
  if (typeof entry !== 'object' || entry === null) {
    return { index: undefined, reply: { kind: 'unknown', detail: 'not a JSON-RPC reply' } }
  }
  const { id, result, error } = entry as { id?: unknown; result?: unknown; error?: unknown }
  const index = indexOf(id)
  if (typeof error === 'object' && error !== null) {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown }
    const reply = {
      kind: 'error',
      code: Number(textOf(code ?? 0)),
      message: textOf(message ?? 'unnamed error'),
    } as const
    return { index, reply: data === undefined ? reply : { ...reply, data } }
  }
  return result === undefined
    ? { index, reply: { kind: 'unknown', detail: 'a reply without a result' } }
    : { index, reply: { kind: 'result', result } }
}

/**
 * Some gateways echo the id as text (`"7"` for 7), although JSON-RPC requires the same value. That confuses
 * no answers: the body came on the connection of this request, whose ids are all numbers, so the text can
 * stand for one call alone.
 */
function indexOf(id: unknown): number | undefined {
  if (typeof id === 'number') return id
  return typeof id === 'string' && /^\d{1,9}$/.test(id) ? Number(id) : undefined
}

/**
 * A field that should be a text or a number may be anything, also a number whose spelling is kept, which has
 * no conversion.
 */
function textOf(field: unknown): string {
  return typeof field === 'string' ? field : JSON.stringify(field)
}

/** JSON that the service only passes on: it reads no numbers, so no digit is lost. */

/** Parses JSON like `JSON.parse`, but keeps the text of a number that would be written differently. */
function parseVerbatim(text: string): unknown {
  return engine.parse(text, (_key, value, { source }) => {
    if (typeof value !== 'number' || source === undefined || String(value) === source) return value
    return engine.rawJSON(source)
  })
}

/** Returns the value with each bigint in a form that `JSON.stringify` can write. */
export function writable(value: unknown): unknown {
  if (typeof value === 'bigint') return engine.rawJSON(value.toString())
  if (Array.isArray(value)) return value.map(writable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, writable(field)]))
}

/**
 * Features of the engine's JSON that the TypeScript library does not declare yet: source text access
 * (ES2026).
 */
const engine = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}
