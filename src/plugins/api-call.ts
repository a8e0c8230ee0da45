import { Agent, request as send } from 'node:http'
import { READ_ONLY_HEADER } from '../http/handler.ts'
import type { ApiMessage, PluginErrorFields } from './messages.ts'
import { DEPTH_HEADER } from './plugin.ts'

/** The limits of one request of a plugin to the API. Milliseconds, and bytes of the response. */
const TIMEOUT_MS = 30_000
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** Connections of one plugin, besides those of requests that wait for a status. Further requests wait. */
const MAX_SOCKETS = 64

/** True for a request that the service answers late, because it waits for the status of a transaction. */
export function isWaitingRequest({ method, path }: Pick<ApiMessage, 'method' | 'path'>): boolean {
  return method === 'GET' && /[?&]wait=/.test(path)
}

/** The call during which a plugin makes a request. */
export interface CallOrigin {
  /** The id of the caller's request, which that of the plugin continues. */
  readonly requestId: string | undefined
  /** The number of plugins that called each other up to this one. */
  readonly depth: number
  /** The trace of the call, in the form of the header `traceparent`. */
  readonly traceParent?: string | undefined
}

/** The response as JSON text: `{ "status": …, "text": … }`. */
type ApiAnswer =
  | { readonly value: string; readonly status: number; readonly isRead: boolean }
  | { readonly error: PluginErrorFields }

/** Makes requests of one plugin to the API of this process. */
export interface ApiCaller {
  call(message: ApiMessage, origin: CallOrigin): Promise<ApiAnswer>
  close(): void
}

/**
 * Creates the way of a plugin to the API: HTTP to this process, with the secret of the plugin, which never
 * leaves the process. So a plugin passes the same checks as any other caller: its key, scopes, relayers,
 * rules and budgets, the contract, the rate limit and the audit log.
 */
export function createApiCaller({
  url,
  secret,
}: {
  /** The address of the service, known when it listens. */
  readonly url: () => string
  readonly secret: string
}): ApiCaller {
  const ordinary = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS })
  const waiting = new Agent({ keepAlive: true })
  return {
    close: () => {
      ordinary.destroy()
      waiting.destroy()
    },
    call: ({ method, path, body, idempotencyKey, userId, id }, { requestId, depth, traceParent }) =>
      new Promise((resolve) => {
        const agent = isWaitingRequest({ method, path }) ? waiting : ordinary
        const fail = (message: string) => resolve({ error: { message, code: 'SERVICE_UNREACHABLE' } })
        const outgoing = send(`${url()}${path}`, {
          method,
          agent,
          timeout: TIMEOUT_MS,
          headers: {
            authorization: `Bearer ${secret}`,
            [DEPTH_HEADER]: String(depth + 1),
            ...(requestId !== undefined && { 'x-request-id': `${requestId.slice(0, 100)}.${id}` }),
            ...(traceParent !== undefined && { traceparent: traceParent }),
            ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
            ...(userId !== undefined && { 'user-id': userId }),
            ...(body !== undefined && {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(body),
            }),
          },
        })
        outgoing.once('timeout', () => outgoing.destroy(new Error('no response in time')))
        outgoing.once('error', (error) => fail(`The service did not answer: ${error.message}.`))
        outgoing.once('response', (response) => {
          const { statusCode = 0 } = response
          let text = ''
          response.setEncoding('utf8')
          response.on('data', (piece: string) => {
            text += piece
            if (text.length > MAX_ANSWER_BYTES) outgoing.destroy(new Error('the response is too large'))
          })
          response.once('error', (error) => fail(`The response did not arrive: ${error.message}.`))
          const isRead = method === 'GET' || response.headers[READ_ONLY_HEADER] !== undefined
          response.once('end', () =>
            resolve({ value: JSON.stringify({ status: statusCode, text }), status: statusCode, isRead }),
          )
        })
        outgoing.end(body)
      }),
  }
}
