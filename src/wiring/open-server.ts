import type { Logger } from 'pino'
import { applyConfig } from '../config/apply.ts'
import { describeChange } from '../config/changes.ts'
import type { Config } from '../config/types.ts'
import type { CompiledContract } from '../contract/compile.ts'
import type { Database } from '../database/db.ts'
import { explainAway } from '../database/errors.ts'
import { endAllLeases } from '../database/lease.ts'
import { migrate } from '../database/migrate.ts'
import { sealStoredUrls } from '../database/sealed-columns.ts'
import { skipIssuedNumbers } from '../events/store.ts'
import { connectionLimit } from '../http/connections/connections.ts'
import { createHttpServer } from '../http/server.ts'
import type { HttpServerOptions } from '../http/server-options.ts'
import type { Clock } from '../lib/time.ts'
import { configuredAccounts, type RelayerAccounts } from '../relayers/accounts/accounts.ts'
import type { Sealer } from '../security/secrets.ts'
import { type CompleteKeys, completeKeys, type LoadedSigners } from '../signers/load.ts'

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
    | 'handlers'
    | 'findKey'
    | 'signIn'
    | 'mounts'
    | 'networkOf'
    | 'redeemTicket'
    | 'limiter'
    | 'observer'
    | 'tracer'
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

/** An open database, and what it is prepared for. */
interface Preparation {
  readonly config: Config
  readonly database: Database
  readonly sealer: Sealer | undefined
  readonly loaded: LoadedSigners
  /** Undefined until every key is known. */
  readonly accounts: ReadonlyMap<string, RelayerAccounts> | undefined
  readonly log: Logger
}

/** Migrates the database, completes the keys from it, and applies the configuration. */
export async function prepareDatabase(preparation: Preparation): Promise<CompleteKeys> {
  const { config, database, sealer, loaded, log } = preparation
  const applied = await migrate(database)
  if (applied.length > 0) log.info({ migrations: applied }, 'database migrated')
  if (database.engine === 'pglite') await endAllLeases(database.db)
  await skipIssuedNumbers(database.db)
  if (sealer !== undefined) await sealStoredUrls(database.db)
  const complete = await completeKeys(loaded, { db: database.db, log, signers: config.signers })
  const accounts = preparation.accounts ?? (await configuredAccounts(config, complete.keys))
  const changes = await applyConfig(database.db, { ...config, publicKeys: complete.publicKeys }, accounts)
  log.info(
    { changes: changes.map(describeChange) },
    changes.length === 0 ? 'configuration unchanged' : 'configuration applied',
  )
  return complete
}
