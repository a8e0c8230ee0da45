import { createServer, type Server } from 'node:http'
import Koa from 'koa'
import type { Logger } from 'pino'
import { answerClientError } from './answers/client-error.ts'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'
import { drain, listen } from './listening.ts'
import { createPipeline } from './pipeline.ts'
import type { HttpServerOptions } from './server-options.ts'
import { type HttpContext, logFields, type State } from './state.ts'

/** A server that does not listen yet. */
export interface HttpServer {
  /** Starts to listen and returns the address. Rejects when the port is in use. */
  listen(): Promise<{ host: string; port: number }>
  /** Stops new connections, lets open requests finish, and closes the remaining connections after the deadline. */
  drain(deadlineMs: number): Promise<void>
}

/**
 * Creates the server: Koa runs the middleware of pipeline.ts, and Node enforces the limits of connections and headers.
 *
 * @throws Error when an operation has no handler
 */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const app = new Koa<State>()
  const drainState = { draining: false }
  for (const middleware of await createPipeline({ ...options, limits, drainState })) app.use(middleware)
  app.on('error', (error, context?: HttpContext) =>
    options.log.debug({ err: error, ...(context && logFields(context)) }, 'answer not delivered'),
  )
  const server = createNodeServer(app, limits, options.log)
  return {
    listen: () => listen(server, options),
    drain: (deadlineMs) => {
      drainState.draining = true
      return drain(server, deadlineMs)
    },
  }
}

/** The interval at which Node looks for late requests. The default of Node, 30 s, would turn a limit of 10 s into 40 s. */
const LATENESS_CHECK_MS = 1000

/** The time limits of Node begin later than ours: they end connections that the pipeline never sees. */
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
  // A peer that neither sends nor reads for this long has gone.
  server.timeout = Math.max(requestTimeoutMs, keepAliveTimeoutMs) + NODE_GRACE_MS
  // The server ignores an unknown expectation, because the 417 of Node has no body.
  server.on('checkExpectation', answer)
  server.on('clientError', (error, socket) => answerClientError(error, socket as never, log))
  server.on('drop', () => log.warn({ maxConnections }, 'connection refused: the limit is reached'))
  return server
}
