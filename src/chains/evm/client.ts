import type { Logger } from 'pino'
import type { RpcUrl } from '../../networks/network.ts'

/** One JSON-RPC 2.0 call. Quantities in `params` are `0x` hex, as the Ethereum JSON-RPC specification wants them. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/**
 * What came back. `error` is the node's own answer and may be relied on; `unknown` means that nobody can say whether the
 * call had an effect: a time-out, a broken connection, an unreadable body, HTTP 429 or 5xx.
 */
export type RpcReply =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'unknown'; readonly detail: string }

export interface RpcClient {
  /** Replies in the order of the calls. Never rejects. */
  send(calls: readonly RpcCall[]): Promise<RpcReply[]>
  /** One call, put into one HTTP request with everything else that is asked in the same turn of the event loop. */
  call(method: string, params: readonly unknown[]): Promise<RpcReply>
}

interface RpcClientOptions {
  /** Asked in the order of their weight; the next one only when an endpoint does not answer. */
  readonly urls: readonly RpcUrl[]
  readonly timeoutMs: number
  readonly log: Logger
}

/** More calls than this go in several HTTP requests: public endpoints refuse larger batches. */
const MAX_BATCH = 100

/** How long an endpoint that did not answer is asked last, in ms. Shorter brings its time-outs into every request. */
const COOL_DOWN_MS = 5_000

/** JSON-RPC over HTTP with keep-alive, batching, a time-out, and the next endpoint when one does not answer. */
export function createRpcClient({ urls, timeoutMs, log }: RpcClientOptions): RpcClient {
  const ranked = urls.filter((url) => url.weight > 0).sort((a, b) => b.weight - a.weight)
  const restsUntil = new Map<string, number>()
  const queue: { call: RpcCall; resolve: (reply: RpcReply) => void }[] = []

  const order = () => {
    const now = Date.now()
    const resting = (url: RpcUrl) => ((restsUntil.get(url.url) ?? 0) > now ? 1 : 0)
    return [...ranked].sort((a, b) => resting(a) - resting(b))
  }

  async function sendBatch(calls: readonly RpcCall[]): Promise<RpcReply[]> {
    let detail = 'no RPC url is configured'
    for (const { url } of order()) {
      const answer = await post(url, calls, timeoutMs)
      if (answer.kind === 'replies') {
        restsUntil.delete(url)
        return answer.replies
      }
      detail = answer.detail
      restsUntil.set(url, Date.now() + COOL_DOWN_MS)
      log.warn({ endpoint: new URL(url).host, detail }, 'RPC endpoint did not answer')
    }
    return calls.map(() => ({ kind: 'unknown', detail }))
  }

  async function send(calls: readonly RpcCall[]): Promise<RpcReply[]> {
    const replies: RpcReply[] = []
    for (let start = 0; start < calls.length; start += MAX_BATCH) {
      replies.push(...(await sendBatch(calls.slice(start, start + MAX_BATCH))))
    }
    return replies
  }

  async function flush() {
    const asked = queue.splice(0)
    const replies = await send(asked.map((entry) => entry.call))
    for (const [index, entry] of asked.entries()) {
      entry.resolve(replies[index] ?? { kind: 'unknown', detail: 'no reply' })
    }
  }

  return {
    send,
    call: (method, params) =>
      new Promise((resolve) => {
        queue.push({ call: { method, params }, resolve })
        if (queue.length === 1) setImmediate(() => void flush())
      }),
  }
}

type Posted = { kind: 'replies'; replies: RpcReply[] } | { kind: 'silent'; detail: string }

async function post(url: string, calls: readonly RpcCall[], timeoutMs: number): Promise<Posted> {
  const entries = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(entries.length === 1 ? entries[0] : entries),
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    })
    const text = await response.text()
    if (response.status === 429 || response.status >= 500) {
      return { kind: 'silent', detail: `the endpoint answered HTTP ${response.status}` }
    }
    const replies = readReplies(JSON.parse(text), calls.length)
    // An error page in JSON, or one error for the whole batch: nobody looked at the calls, another endpoint may.
    const unanswered = replies.find((reply) => reply.kind === 'unknown')
    if (unanswered && replies.every((reply) => reply.kind === 'unknown')) {
      const status = response.ok ? '' : ` (HTTP ${response.status})`
      return { kind: 'silent', detail: `${unanswered.detail}${status}` }
    }
    return { kind: 'replies', replies }
  } catch (error) {
    return { kind: 'silent', detail: reasonOf(error) }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the endpoint could not be asked'
  if (error.name === 'TimeoutError') return 'the endpoint did not answer in time'
  if (error instanceof SyntaxError) return 'the endpoint did not answer with JSON'
  const code = error.cause instanceof Error && 'code' in error.cause ? ` (${String(error.cause.code)})` : ''
  return `the endpoint could not be reached${code}`
}

/** A batch may come back in any order and with entries missing; what is missing is unknown. */
function readReplies(body: unknown, count: number): RpcReply[] {
  const replies = Array.from(
    { length: count },
    (): RpcReply => ({ kind: 'unknown', detail: 'no reply in the batch' }),
  )
  for (const entry of Array.isArray(body) ? body : [body]) {
    const { index, reply } = readReply(entry)
    if (index !== undefined && index < count) replies[index] = reply
    else if (index === undefined && reply.kind === 'error')
      replies.fill({ kind: 'unknown', detail: reply.message })
  }
  return replies
}

function readReply(entry: unknown): { index: number | undefined; reply: RpcReply } {
  if (typeof entry !== 'object' || entry === null) {
    return { index: undefined, reply: { kind: 'unknown', detail: 'not a JSON-RPC reply' } }
  }
  const { id, result, error } = entry as { id?: unknown; result?: unknown; error?: unknown }
  const index = typeof id === 'number' ? id : undefined
  if (typeof error === 'object' && error !== null) {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown }
    const reply = {
      kind: 'error',
      code: Number(code ?? 0),
      message: String(message ?? 'unnamed error'),
    } as const
    return { index, reply: data === undefined ? reply : { ...reply, data } }
  }
  return result === undefined
    ? { index, reply: { kind: 'unknown', detail: 'a reply without a result' } }
    : { index, reply: { kind: 'result', result } }
}
