import type { RpcCall, RpcReply } from './rpc.ts'

/** Writes the body of an HTTP request: one call alone, or a batch whose ids are the indexes of the calls (JSON-RPC 2.0, section 6). */
export function writeCalls(calls: readonly RpcCall[]): string {
  const entries = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
  return JSON.stringify(entries.length === 1 ? entries[0] : entries)
}

/** The content of a body: a reply for each call, or one error for them all. */
export type Body =
  | { readonly kind: 'replies'; readonly replies: readonly RpcReply[] }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }

/** Reads a body. A batch may come back in any order and with entries missing; missing replies are unknown. */
export function readBody(body: unknown, count: number): Body {
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

/** Some gateways echo the id as text (`"7"` for 7). */
function indexOf(id: unknown): number | undefined {
  if (typeof id === 'number') return id
  return typeof id === 'string' && /^\d{1,9}$/.test(id) ? Number(id) : undefined
}

/** A field that should be a text or a number may be anything, also a number whose spelling is kept, which has no conversion. */
function textOf(field: unknown): string {
  return typeof field === 'string' ? field : JSON.stringify(field)
}
