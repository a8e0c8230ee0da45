import { createServer, type Server } from 'node:http'
import Koa from 'koa'
import type { Logger } from 'pino'
import { createDispatcher } from '../contract/dispatch.ts'
import { documentationPages } from '../contract/docs.ts'
import type { Contract } from '../contract/document.ts'
import type { HandlerMap } from '../contract/operations.ts'
import { createValidator } from '../contract/validator.ts'
import type { Clock } from '../lib/clock.ts'
import { accessLog } from './access-log.ts'
import { api } from './api.ts'
import { createAuthenticator } from './auth.ts'
import { createBodyReader } from './body.ts'
import { answerClientError } from './client-error.ts'
import { documentation } from './documentation.ts'
import { errorBoundary } from './error-boundary.ts'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'
import { drain, listen } from './listening.ts'
import { type MetricsReader, metricsPage } from './metrics-page.ts'
import { observeRequests, type RequestObserver } from './observe-requests.ts'
import { createRateLimiter } from './rate-limit.ts'
import { requestId } from './request-id.ts'
import { requireHost } from './require-host.ts'
import { responseCheck } from './response-check.ts'
import type { HttpContext, Middleware, State } from './state.ts'

export interface HttpServerOptions {
  readonly contract: Contract
  readonly handlers: HandlerMap
  /** The acceptable bearer tokens. */
  readonly apiKeys: readonly string[]
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Those that are absent are `DEFAULT_LIMITS`. */
  readonly limits?: Partial<Limits>
  readonly rateLimit: { readonly perSecond: number; readonly burst: number }
  /** Hold every answer against the contract; a mismatch is logged and answered with 500. */
  readonly validateResponses: boolean
  /** Absent where nobody counts: then there is no page of them. */
  readonly metrics?: { readonly observer: RequestObserver; readonly read: MetricsReader } | undefined
  readonly log: Logger
  readonly clock: Clock
}

/** A server that has been built; it listens when told so. */
export interface HttpServer {
  /** Starts to listen and tells where. Fails when the port is taken. */
  listen(): Promise<{ host: string; port: number }>
  /** Takes no new connections, lets the requests that are here finish, and cuts what is left after the deadline. */
  drain(deadlineMs: number): Promise<void>
}

/**
 * Builds the server: contract, handlers and limits in one list of middleware.
 *
 * @throws Error when an operation has no handler
 */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const app = new Koa<State>()
  const drainer = { draining: false }
  for (const middleware of await middlewareList(options, limits, drainer)) app.use(middleware)
  app.on('error', (error, context?: HttpContext) =>
    options.log.debug(
      { err: error, request_id: context?.state.requestId },
      'the answer could not be delivered',
    ),
  )
  const server = createNodeServer(app, limits, options.log)
  return {
    listen: () => listen(server, options),
    drain: (deadlineMs) => {
      drainer.draining = true
      return drain(server, deadlineMs)
    },
  }
}

async function middlewareList(
  { contract, handlers, apiKeys, rateLimit, validateResponses, metrics, log, clock }: HttpServerOptions,
  limits: Limits,
  drainer: { readonly draining: boolean },
): Promise<Middleware[]> {
  const validator = createValidator(contract)
  const dispatcher = await createDispatcher({ contract, validator, handlers })
  const authenticate = createAuthenticator(apiKeys)
  const limiter = createRateLimiter({ ...rateLimit, clock })
  return [
    requestId(),
    ...(metrics ? [observeRequests(metrics.observer)] : []),
    accessLog({ log, clock }),
    closeWhileDraining(drainer),
    ...(validateResponses ? [responseCheck({ validator, log })] : []),
    errorBoundary({ log }),
    requireHost(),
    ...(metrics ? [metricsPage({ read: metrics.read, authenticate, limiter })] : []),
    documentation(await documentationPages(contract)),
    api({
      dispatcher,
      authenticate,
      limiter,
      readBody: createBodyReader(limits),
      requestTimeoutMs: limits.requestTimeoutMs,
    }),
  ]
}

/** A kept-alive connection would outlive the server: whoever is answered now is asked to come back elsewhere. */
function closeWhileDraining(drainer: { readonly draining: boolean }): Middleware {
  return async function closeWhileDraining(context, next) {
    await next()
    if (drainer.draining) context.set('Connection', 'close')
  }
}

/** Node looks for late requests this often; its default of 30 s would turn 10 s into 40. */
const LATENESS_CHECK_MS = 1000

/** Our own deadline answers first; Node's is there for what never reaches us. */
const NODE_GRACE_MS = 5000

function createNodeServer(app: Koa<State>, limits: Limits, log: Logger): Server {
  const { headerBytes, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, maxConnections } = limits
  const answer = app.callback()
  const server = createServer(
    {
      maxHeaderSize: headerBytes,
      headersTimeout: headersTimeoutMs,
      requestTimeout: Math.max(headersTimeoutMs, requestTimeoutMs) + NODE_GRACE_MS,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(LATENESS_CHECK_MS, headersTimeoutMs),
      requireHostHeader: false,
    },
    answer,
  )
  server.maxConnections = maxConnections
  // Whoever neither sends nor reads for this long is gone.
  server.timeout = Math.max(requestTimeoutMs, keepAliveTimeoutMs) + NODE_GRACE_MS
  // An expectation that we do not know is ignored; Node's own 417 has no body.
  server.on('checkExpectation', answer)
  server.on('clientError', (error, socket) => answerClientError(error, socket as never, log))
  server.on('drop', () => log.warn({ maxConnections }, 'connection refused: too many are open'))
  return server
}
