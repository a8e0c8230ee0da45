import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { applyConfig } from './apply/apply.ts'
import { describeChange } from './apply/changes.ts'
import type { Chain } from './chains/chain.ts'
import { guardedTransport } from './chains/rpc/transport.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { wellKnownNetworks } from './configuration/networks.ts'
import { ConfigError } from './configuration/problems.ts'
import { loadContract } from './contract/document.ts'
import type { HandlerMap } from './contract/operations.ts'
import { type Database, openDatabase } from './database/database.ts'
import { endAllLeases } from './database/lease.ts'
import { migrate } from './database/migrate.ts'
import { createDeliveries } from './deliveries.ts'
import { gatherFacts } from './diagnosis/facts.ts'
import { EVENTS_CHANNEL } from './events/store.ts'
import { createWakers } from './events/wakers.ts'
import { createFleet, FLEET_CHANNEL, type Fleet } from './fleet.ts'
import { createHandlers } from './handlers/create-handlers.ts'
import { createEventPresenter } from './handlers/present-event.ts'
import { createHttpServer } from './http/server.ts'
import { createLogger } from './log.ts'
import { createNetworkDirectory } from './networks/directory.ts'
import { createNetworkManager } from './networks/manage.ts'
import { createObservation, type Observation } from './observation.ts'
import { createOperators } from './operators.ts'
import { createPoster } from './outbound/post.ts'
import { createReadinessCheck } from './readiness.ts'
import { configuredAccounts, type RelayerAccounts } from './relayers/accounts.ts'
import { createHealthChecker } from './relayers/check-health.ts'
import { createRelayerReader } from './relayers/read.ts'
import { relayersSigningWith } from './relayers/store.ts'
import { createSealer, readSealingKey } from './sealing/sealer.ts'
import type { Key } from './signers/key.ts'
import { createKeyring } from './signers/keyring.ts'
import { loadKeys } from './signers/load.ts'
import { createSignerManager } from './signers/manage.ts'
import { createAcceptor } from './transactions/accept.ts'
import { createPendingCanceler } from './transactions/cancel-pending.ts'
import { createReplacer } from './transactions/replace.ts'
import { createTransactionSigner } from './transactions/sign-only.ts'
import { WORK_CHANNEL } from './transactions/store.ts'
import { createHealthWorker } from './workers/health-worker.ts'
import { createSubmitWorker } from './workers/submit-worker.ts'
import { createWatchWorker, type WatchTarget } from './workers/watch-worker.ts'

/** Answers of nodes to a batch can be large; more than this, in bytes, is held to be an attack on our memory. */
const RPC_POSTER = { wholeBodyBytes: 64 * 1024 * 1024, idleSockets: 64 }

/** The service, put together and not yet started. */
export interface App {
  /** Starts the workers, then listens. */
  start(): Promise<{ url: string; metricsUrl?: string }>
  /** Takes no new requests, finishes those under way and the workers' present step, then closes the database. */
  stop(): Promise<void>
}

interface AppDeps {
  readonly clock?: Clock
  readonly log?: Logger
}

/**
 * Joins the parts; the only place that knows them all. Loads the keys, migrates the database and makes it match the
 * configuration.
 * @throws ConfigError with everything that is wrong, before anything is started
 */
export async function createApp(config: Config, deps: AppDeps = {}): Promise<App> {
  const { clock = systemClock, log = createLogger({ level: config.logLevel }) } = deps
  const keys = await loadKeys(config.signers)
  const accounts = await configuredAccounts(config, keys)
  const database = await openDatabase(config.database, log)
  try {
    await prepareDatabase({ config, database, accounts, log })
    return await assemble({ config, database, keys, clock, log })
  } catch (error) {
    await database.close()
    throw error
  }
}

interface Preparation {
  readonly config: Config
  readonly database: Database
  readonly accounts: ReadonlyMap<string, RelayerAccounts>
  readonly log: Logger
}

async function prepareDatabase({ config, database, accounts, log }: Preparation): Promise<void> {
  const applied = await migrate(database)
  if (applied.length > 0) log.info({ migrations: applied }, 'database migrated')
  if (database.engine === 'pglite') await endAllLeases(database.db)
  const changes = await applyConfig(database.db, config, accounts)
  log.info(
    { changes: changes.map(describeChange) },
    changes.length === 0 ? 'configuration unchanged' : 'configuration applied',
  )
}

/**
 * A wrong chain id is a mistake of the configuration; a silent node is weather, and the start goes on. Urls of callers stop no start:
 * relayers behind them are disabled by the first check of their health.
 */
async function verifyChains(fleet: Fleet, log: Logger): Promise<void> {
  const answers = await Promise.all(
    [...fleet.squads()].map(async ([name, { operator }]) => ({
      name,
      byApi: operator.network.rpcUrls.some((url) => url.byApi),
      answer: await operator.chain.verify(),
    })),
  )
  const problems = answers.flatMap(({ byApi, answer }) =>
    answer.kind === 'refused' && !byApi ? [answer.refusal.detail] : [],
  )
  if (problems.length > 0) throw new ConfigError(problems)
  for (const { name, answer } of answers) {
    if (answer.kind === 'unknown')
      log.warn({ network: name, detail: answer.detail }, 'no endpoint answers; it is asked again')
  }
}

interface Parts {
  readonly config: Config
  readonly database: Database
  readonly keys: ReadonlyMap<string, Key>
  readonly clock: Clock
  readonly log: Logger
}

interface Formation extends Parts {
  readonly observation: Observation | undefined
  /** Names this process in leases. */
  readonly owner: string
}

/** Who acts, and how that is followed. */
async function formFleet({ config, database, keys, observation, owner, clock, log }: Formation) {
  const { db } = database
  const { maxInFlight, rpcTimeoutMs } = config
  const sealingKey = config.sealingKey && readSealingKey(config.sealingKey.reveal())
  const sealer = sealingKey && createSealer(sealingKey)
  const networks = createNetworkDirectory(config.networks, wellKnownNetworks())
  const keyring = createKeyring({ db, sealer, configured: keys })
  const rpcObserver = observation?.rpc
  const policy = { allowPrivate: config.allowPrivateUrls }
  const poster = createPoster(policy, RPC_POSTER)
  const guarded = guardedTransport(poster)
  const operators = createOperators({ networks, keyring, rpcTimeoutMs, clock, log, rpcObserver, guarded })
  const { operatorOf, prepare } = operators
  const relayerOf = createRelayerReader(db, prepare)
  const observer = observation?.transactions
  const context = { db, clock, log, maxInFlight, owner, observer, relayerOf, operatorOf }
  const createWatchLoop = (target: WatchTarget) => createWatchWorker(context, target)
  const fleet = createFleet({ db, networks, operators, clock, log, createWatchLoop })
  const problems = await fleet.look()
  if (problems.length > 0) throw new ConfigError(problems)
  await verifyChains(fleet, log)
  const { wrongChain } = operators
  return {
    fleet,
    operators,
    context,
    sealer,
    networks: createNetworkManager({ db, networks, policy, wrongChain }),
    close: () => poster.close(),
  }
}

async function assemble(parts: Parts): Promise<App> {
  const { config, database, clock, log } = parts
  const { db } = database
  const owner = randomUUID()
  const observation = createObservation(config, { clock, log })
  const formed = await formFleet({ ...parts, observation, owner })
  const { fleet, operators, context, sealer, networks } = formed
  const presentEvents = createEventPresenter({ db, operatorsOf: fleet.operatorsOf })
  const observer = observation?.deliveries
  const shared = { config, database, presentEvents, sealer, owner, clock, log }
  const deliveries = await createDeliveries({ ...shared, observer })
  const submit = createSubmitWorker(context)
  const { prepare } = operators
  const checker = createHealthChecker({ db, clock, log, prepare })
  const { healthIntervalMs: intervalMs } = config
  const health = createHealthWorker({ db, clock, log, owner, checker, prepare, intervalMs })
  const standing = [fleet.loop, submit, health, ...deliveries.loops]
  const loops = () => [...standing, ...fleet.watchLoops()]
  observation?.watch({ database, owner, loops })
  const wakers = createWakers()
  const stopping = new AbortController()
  const replacer = createReplacer(context)
  const handlers = createHandlers({
    ...context,
    prepare: operators.prepare,
    accept: createAcceptor(context),
    replacer,
    cancelPending: createPendingCanceler(context, replacer),
    signTransaction: createTransactionSigner(context),
    gather: (relayer, item) => gatherFacts(context, relayer, item),
    wakers,
    presentEvents,
    stopping: stopping.signal,
    signers: createSignerManager({ db, sealer, usersOf: relayersSigningWith }),
    networks,
    ...deliveries,
    check: createReadinessCheck({ database, chains: () => chainsOf(fleet), loops, clock }),
  })
  const server = await openServer(parts, handlers, observation)
  // One after the other: they share a connection.
  const ears = [
    await database.listen(WORK_CHANNEL, (relayerId) => submit.wake(relayerId)),
    await database.listen(EVENTS_CHANNEL, wakers.wake),
    await database.listen(FLEET_CHANNEL, () => fleet.loop.wake()),
    await deliveries.listen(),
  ]
  return {
    start: async () => {
      for (const loop of standing) loop.start()
      const { host, port } = await server.listen()
      const shown = await observation?.listen()
      return { url: `http://${host}:${port}`, ...(shown && { metricsUrl: shown.url }) }
    },
    stop: async () => {
      stopping.abort()
      await Promise.all([server.drain(config.shutdownMs), ...standing.map((loop) => loop.stop())])
      for (const unlisten of ears) await unlisten()
      await deliveries.close()
      formed.close()
      await observation?.close()
      await database.close()
    },
  }
}

async function openServer(
  { config, clock, log }: Parts,
  handlers: HandlerMap,
  observation: Observation | undefined,
) {
  const metrics = observation && { observer: observation.requests, read: observation.read }
  return createHttpServer({
    contract: await loadContract(),
    handlers,
    apiKeys: config.apiKeys,
    host: config.server.host,
    port: config.server.port,
    limits: {
      bodyBytes: config.server.maxBodyBytes,
      requestTimeoutMs: config.server.requestTimeoutMs,
      maxConnections: config.server.maxConnections,
    },
    rateLimit: config.rateLimit,
    validateResponses: config.mode !== 'production',
    metrics,
    log,
    clock,
  })
}

function chainsOf(fleet: Fleet): Map<string, Chain> {
  return new Map([...fleet.squads()].map(([name, { operator }]) => [name, operator.chain]))
}
