import { UsageError } from '../command.ts'

/** The facts of the chain about a transaction of the records. */
export interface Evidence {
  /** Undefined if the chain shows neither that it was included nor that it was not. */
  readonly included: boolean | undefined
  /** The hash of what was included. */
  readonly hash?: string
  /** A no-op has its nonce, so it was canceled after the backup. */
  readonly canceled?: true
  readonly seen: string
}

/** A JSON-RPC endpoint that the operator names. */
export interface Endpoint {
  call<T>(method: string, params: readonly unknown[]): Promise<T>
}

/** The longest time for an answer of a node, in ms. */
const TIMEOUT_MS = 30_000

/** Connects to a JSON-RPC endpoint. No message has the url, which may hold a key. */
export function connectTo(url: string): Endpoint {
  if (!URL.canParse(url)) throw new UsageError('--rpc is not a url.')
  return {
    call: async (method, params) => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
        .then((response) => response.json() as Promise<{ result?: unknown; error?: { message?: unknown } }>)
        .catch(() => ({ error: { message: 'no answer' } }))
      if (!('result' in answer) || answer.result === undefined)
        throw new EndpointError(`${method}: ${String(answer.error?.message)}`)
      return answer.result as never
    },
  }
}

/** The endpoint did not tell what was asked. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError'
}
