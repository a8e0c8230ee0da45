import type { Dispatcher, Exchange } from '../contract/dispatch.ts'
import type { OperationId, Streamed } from '../contract/operations.ts'
import { tooManyRequests } from '../errors.ts'
import type { Caller } from './auth.ts'
import type { BodyReader } from './body.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import { type SuccessResult, successBody } from './envelope.ts'
import type { RateLimiter } from './rate-limit.ts'
import { sendJson, sendText } from './send.ts'
import { sendEvents } from './send-events.ts'
import type { HttpContext, Middleware } from './state.ts'

export interface ApiOptions {
  readonly dispatcher: Dispatcher
  readonly authenticate: (authorization: string | undefined) => Caller
  readonly limiter: RateLimiter
  readonly readBody: BodyReader
  readonly requestTimeoutMs: number
}

/** Takes every request that is no page of the documentation through the contract, and answers. */
export function api(options: ApiOptions): Middleware {
  return async function api(context) {
    if (context.method === 'OPTIONS' && answerOptions(context, options.dispatcher)) return
    let arrived = true
    const deadline = startDeadline(context, options.requestTimeoutMs, () => arrived)
    const readBody = async (mediaTypes: readonly string[]) => {
      arrived = false
      const body = await options.readBody(context, mediaTypes)
      arrived = true
      return body
    }
    const exchange = createExchange(context, options, { deadline, readBody })
    answer(context, await deadline.race(options.dispatcher.dispatch(exchange)))
  }
}

/** What a path can do is no secret, as the contract is public: OPTIONS asks for no credential. */
function answerOptions(context: HttpContext, dispatcher: Dispatcher): boolean {
  const methods = dispatcher.methods(context.path)
  if (methods.length === 0) return false
  context.status = 204
  context.set('Allow', methods.join(', '))
  return true
}

interface ExchangeParts {
  readonly deadline: Deadline
  readonly readBody: (mediaTypes: readonly string[]) => Promise<unknown>
}

function createExchange(
  context: HttpContext,
  options: ApiOptions,
  { deadline, readBody }: ExchangeParts,
): Exchange {
  const caller = options.authenticate(context.headers.authorization)
  const limitKey = caller.kind === 'known' ? `key ${caller.key}` : `peer ${context.req.socket.remoteAddress}`
  return {
    method: context.method,
    path: context.path,
    querystring: context.querystring,
    header: (name) => headerOf(context, name),
    routed: (operation, { transaction_id: id }) => {
      context.state.operation = operation
      if (typeof id === 'string') context.state.transactionId = id
    },
    credentialProblem: () => (caller.kind === 'known' ? undefined : caller.problem),
    admit: () => {
      const seconds = options.limiter.take(limitKey)
      if (seconds > 0) throw tooManyRequests(seconds)
    },
    readBody,
    context: { requestId: context.state.requestId, signal: deadline.signal },
  }
}

/** Node joins repeated headers where that makes sense; the few that stay lists are none of the contract's. */
function headerOf(context: HttpContext, name: string): string | undefined {
  const value = context.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** The operations whose answer is not wrapped. */
const BARE: ReadonlySet<OperationId | undefined> = new Set<OperationId>([
  'getHealth',
  'getReadiness',
  'callRpc',
])

function answer(context: HttpContext, result: unknown): void {
  const { operation } = context.state
  if (operation?.id === 'sendTransaction')
    context.state.transactionId = (result as { data: { id: string } }).data.id
  if (isStreamed(result)) sendEvents(context, result.stream)
  else if (BARE.has(operation?.id)) answerBare(context, result as { status: number; body: unknown })
  else sendJson(context, operation?.successStatus ?? 200, successBody(result as SuccessResult))
}

function isStreamed(result: unknown): result is Streamed {
  return typeof result === 'object' && result !== null && 'stream' in result
}

function answerBare(context: HttpContext, { status, body }: { status: number; body: unknown }): void {
  if (typeof body === 'string') sendText(context, status, body)
  else sendJson(context, status, body)
}
