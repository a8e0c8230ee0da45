import { createServer, type RequestListener, type Server } from 'node:http'
import Koa from 'koa'
import type { Logger } from 'pino'
import { createAddressList } from '../lib/http/address-list.ts'
import { answerClientError } from './answers/failure.ts'
import { type Connections, createConnections, createLimitLog, listen } from './connections/connections.ts'
import { type DrainTimes, drain } from './connections/drain.ts'
import { createPeers } from './connections/peer.ts'
import { createSockets } from './connections/sockets/sockets.ts'
import { createUpgrades, isUpgrade, type Upgrades } from './connections/sockets/upgrade.ts'
import { createPipeline } from './pipeline.ts'
import { DEFAULT_LIMITS, type HttpServerOptions, type Limits } from './server-options.ts'
import { type HttpContext, logFields, type State } from './state.ts'

/** A server that does not listen yet. */
export interface HttpServer {
  /** Starts to listen and returns the address. Rejects when the port is in use. */
  listen(): Promise<{ host: string; port: number }>
  /**
   * Takes requests until the grace is over, answers those that have arrived, and closes what is left after
   * the deadline.
   */
  drain(times: DrainTimes): Promise<void>
}

/**
 * Creates the server: Koa runs the middleware of pipeline.ts, and Node enforces the limits of connections and
 * headers.
 *
 * @throws Error if an operation has no handler
 */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const app = new Koa<State>()
  const drainState = { draining: false }
  const peers = createPeers(createAddressList(options.trustedProxies ?? []))
  const connections = createConnections({ limits, peers, onClosed: createLimitLog(options) })
  const upgrades = createUpgrades()
  const sockets = createSockets({ pingMs: limits.socketPingMs })
  const parts = { limits, drainState, peers, connections, sockets, upgrades }
  const pipeline = await createPipeline({ ...options, ...parts })
  for (const middleware of pipeline) app.use(middleware)
  app.on('error', (error, context?: HttpContext) =>
    options.log.debug({ err: error, ...(context && logFields(context)) }, 'answer not delivered'),
  )
  const server = createNodeServer({ app, limits, connections, upgrades, log: options.log })
  return {
    // Callers that connect at the same moment wait in the backlog, whose default of 511 would make them try
    // again after a second.
    listen: () => listen(server, { ...options, backlog: limits.maxConnections }),
    drain: async (times) => {
      drainState.draining = true
      sockets.closeAll()
      const late = setTimeout(sockets.endAll, times.deadlineMs)
      await drain({ ...times, server, connections, clock: options.clock })
      clearTimeout(late)
    },
  }
}

/**
 * The interval at which Node looks for late requests. The default of Node, 30 s, would turn a limit of 10 s
 * into 40 s.
 */
const LATENESS_CHECK_MS = 1000

/** The time limits of Node begin later than ours: they end connections that the pipeline never sees. */
const NODE_GRACE_MS = 5000

interface NodeServerOptions {
  readonly app: Koa<State>
  readonly limits: Limits
  readonly connections: Connections
  readonly upgrades: Upgrades
  readonly log: Logger
}

function createNodeServer({ app, limits, connections, upgrades, log }: NodeServerOptions): Server {
  const { headerBytes, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs } = limits
  const callback = app.callback()
  const answer: RequestListener = (request, response) => {
    connections.serve(request.socket, response)
    void callback(request, response)
  }
  const server = createServer(
    {
      maxHeaderSize: headerBytes,
      headersTimeout: headersTimeoutMs,
      requestTimeout: Math.max(headersTimeoutMs, requestTimeoutMs) + NODE_GRACE_MS,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(LATENESS_CHECK_MS, headersTimeoutMs),
      requireHostHeader: false,
      shouldUpgradeCallback: isUpgrade,
    },
    answer,
  )
  // The table limits the connections: the limit of Node would refuse the newest one, regardless of the
  // others.
  server.on('connection', connections.admit)
  // A peer that neither sends nor reads for this long is gone.
  server.timeout = Math.max(requestTimeoutMs, keepAliveTimeoutMs) + NODE_GRACE_MS
  // The server ignores an unknown expectation, because the 417 of Node has no body.
  server.on('checkExpectation', answer)
  server.on('upgrade', upgrades.listener(answer))
  server.on('clientError', (error, socket) => answerClientError(error, socket as never, log))
  return server
}
