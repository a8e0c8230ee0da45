import type { Logger } from 'pino'
import type { Config } from '../config/load.ts'
import type { CompiledContract } from '../contract/compile.ts'
import { explainAway } from '../database/errors.ts'
import { connectionLimit } from '../http/connections/connection-limit.ts'
import { createHttpServer } from '../http/server.ts'
import type { HttpServerOptions } from '../http/server-options.ts'
import type { Clock } from '../lib/time/clock.ts'

interface ServerParts {
  readonly config: Config
  readonly compiled: CompiledContract
  readonly clock: Clock
  readonly log: Logger
}

/** Creates the HTTP server with the settings of the configuration. It does not listen yet. */
export function openServer(
  { config, compiled, clock, log }: ServerParts,
  connected: Pick<
    HttpServerOptions,
    'handlers' | 'findKey' | 'networkOf' | 'redeemTicket' | 'limiter' | 'observer' | 'tracer'
  >,
) {
  return createHttpServer({
    ...compiled,
    ...connected,
    corsOrigins: config.server.corsOrigins,
    serveConsole: config.server.console,
    apiKeys: config.apiKeys,
    host: config.server.host,
    port: config.server.port,
    limits: {
      bodyBytes: config.server.maxBodyBytes,
      requestTimeoutMs: config.server.requestTimeoutMs,
      maxConnections: connectionLimit(config.server.maxConnections, log),
      connectionsPerPeer: config.server.maxConnectionsPerPeer || undefined,
    },
    trustedProxies: config.server.trustedProxies,
    explainFault: explainAway,
    validateResponses: config.mode !== 'production',
    log,
    clock,
  })
}
