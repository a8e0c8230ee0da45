import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { appendManagement } from './audit/append-store.ts'
import { CLI_AUTHOR } from './audit/entry.ts'
import { createSignatureRecorder } from './audit/signatures.ts'
import { localUrl } from './config/api-access.ts'
import type { Config } from './config/types.ts'
import { type CompiledContract, compileContract } from './contract/compile.ts'
import { type DatabaseOptions, openDatabase } from './database/database.ts'
import type { Database } from './database/db.ts'
import { waitForServer } from './database/errors.ts'
import { transact } from './database/locks/transact.ts'
import { PROCESSES_CHANNEL } from './database/processes.ts'
import { withSealedColumns } from './database/sealed-columns.ts'
import { gatherFacts } from './diagnosis/facts.ts'
import { createEventNotifier } from './events/notifier.ts'
import { EVENTS_CHANNEL } from './events/store.ts'
import { createStreamLimit } from './events/stream-limit.ts'
import { createStreamTickets } from './events/stream-tickets-store.ts'
import { createEventPresenter } from './handlers/present/event.ts'
import { createCallAdmission } from './http/guards.ts'
import type { Clock } from './lib/time.ts'
import { createLogger } from './log.ts'
import { configuredAccounts } from './relayers/accounts/accounts.ts'
import { networkOf } from './relayers/relayer.ts'
import { findNotSigning, pauseAll, visibleRelayerIds } from './relayers/store.ts'
import { type Sealer, sealerOf } from './security/secrets.ts'
import { type CompleteKeys, loadKeys } from './signers/load.ts'
import { createKeyServices, type KeyServices } from './signers/providers/connect.ts'
import { createSponsors } from './sponsoring/sponsor.ts'
import type { Telemetry } from './telemetry/open-telemetry.ts'
import { startTelemetry } from './telemetry/telemetry.ts'
import type { TransactionsContext } from './transactions/model/runtime.ts'
import {
  createAuthorizationSigner,
  createTransactionSigner,
  createTypedDataSigner,
} from './transactions/requests/signing.ts'
import { Transactions } from './transactions/requests/transactions.ts'
import { createTransactionWaits } from './transactions/requests/waits.ts'
import { findTraceParent } from './transactions/store/lookups-store.ts'
import { SLOT_CHANNEL, WORK_CHANNEL } from './transactions/store/transactions-store.ts'
import { createAccess } from './wiring/access.ts'
import {
  chainsInUse,
  createHeadPoller,
  headsInUse,
  networksInUse,
  sampleEndpoints,
  sampleHeads,
} from './wiring/chains-in-use.ts'
import { createHandlers } from './wiring/create-handlers.ts'
import { createRuntimes } from './wiring/create-runtimes.ts'
import { createDeliveries } from './wiring/deliveries.ts'
import { createManagement } from './wiring/management.ts'
import { createInstrumentation } from './wiring/metrics.ts'
import { openServer, prepareDatabase } from './wiring/open-server.ts'
import { createHooksOf, createPluginsOf, mountsOf, withKeysOfPlugins } from './wiring/plugins.ts'
import { createReadinessCheck, createReplicationWatch } from './wiring/readiness.ts'
import { RELAYERS_CHANNEL } from './wiring/relayer-registry.ts'
import { createServiceClock } from './wiring/service-clock.ts'
import { createSharedLimits } from './wiring/shared-limits.ts'
import { createAlertWorker } from './workers/alert-worker.ts'
import type { Loop } from './workers/loop.ts'
import { createSpendingWorker, createStuckWorker, createTopUpWorker } from './workers/periodic-workers.ts'
import { createSubmitWorker } from './workers/submit-worker.ts'

/** The addresses of the running service, and the relayers that it does not sign for. */
export interface Listening {
  readonly url: string
  readonly metricsUrl?: string
  readonly consoleUrl?: string
  readonly referenceUrl: string
  /** The ids of the relayers that are paused or disabled. */
  readonly relayersNotSigning: readonly string[]
}

/** The service, created and not yet started. */
export interface App {
  /** Starts the workers, and waits for their first rounds for a limited time. */
  begin(): Promise<void>
  /** Listens. Call it after `begin`. */
  listen(): Promise<Listening>
  /** Compiles the schemas of every operation while requests are served, so that the first request of an operation does not wait for it. */
  compileSchemas(): Promise<void>
  /**
   * Switches readiness off, accepts requests until the grace period ends, finishes those that have arrived and the current round of every
   * worker, then closes the database.
   */
  stop(): Promise<void>
}

/**
 * The longest time in ms for which a start waits for the first rounds of the workers, which would delay the first requests. Most take some
 * milliseconds; those that query an endpoint which does not answer take longer.
 */
const FIRST_ROUNDS_MS = 200

/** The longest time in ms for which a stop waits for the last exports, and the time that they get when the stop is late. */
const FLUSH_MS = 5_000
const MIN_FLUSH_MS = 500

/** The parts from which a service is created, besides its configuration. */
export interface AppDeps {
  /** Default: the time of the database server, where there is one, and that of the machine otherwise. */
  readonly clock?: Clock
  readonly log?: Logger
  /** `address:port` of the name servers that resolve the hosts of webhooks and of callers' RPC urls. Default: those of the system. */
  readonly nameServers?: readonly string[]
  /** Spares a process that creates several services most of the time of their starts. Default: read and compiled. */
  readonly compiled?: CompiledContract
  /** The exports by OTLP, which the app closes. Default: those of the configuration. */
  readonly telemetry?: Telemetry | undefined
  /** Ends the wait for a database that cannot be reached. */
  readonly signal?: AbortSignal
  /** Pauses every relayer, those that callers made included, before anything can be signed. */
  readonly paused?: boolean
  /** Starts the engine of the embedded database. Default: in a separate thread. */
  readonly startEngine?: DatabaseOptions['startEngine']
}

/**
 * Creates the service. It loads the keys, migrates the database, applies the configuration and connects the parts.
 * @throws ConfigError with all problems of the configuration, before anything is started
 */
export async function createApp(config: Config, deps: AppDeps = {}): Promise<App> {
  const { log = createLogger({ level: config.logLevel }), nameServers, signal, startEngine } = deps
  const services = createKeyServices(config, nameServers)
  const loaded = await loadKeys(config.signers, services.configured)
  const { telemetry = await startTelemetry(config.telemetry) } = deps
  // Accounts of keys whose service is silent are known when the database is open.
  const accounts = loaded.remote.size === 0 ? await configuredAccounts(config, loaded.keys) : undefined
  const sealer = sealerOf(config.sealingKey)
  const opened = withSealedColumns(
    await openDatabase(
      { ...config.database, signal, startEngine, observer: telemetry?.traces?.queries },
      log,
    ),
    sealer,
  )
  // A start does nothing that a second time would do again: migrations, and the entries of the file, are committed with the note that they are done.
  const { waitMs } = config.database
  const patiently: Patiently = (what, work) =>
    waitForServer(work, { waitMs, what, blockedBy: opened.blockedBy, signal, log })
  const database: Database = {
    ...opened,
    listen: (channel, handler) => patiently('notifications', () => opened.listen(channel, handler)),
  }
  try {
    const { keys } = await patiently('migrations and the configuration', () =>
      prepareDatabase({ config, database, sealer, loaded, accounts, log }),
    )
    if (deps.paused) await patiently('the pause of all relayers', () => pauseRelayers(database.db, log))
    const { compiled = await compileContract() } = deps
    const { clock, loops } = deps.clock
      ? { clock: deps.clock, loops: [] }
      : await patiently('the time', () => createServiceClock(database, log))
    return await assemble({
      config,
      database,
      keys,
      services,
      sealer,
      clock,
      clockLoops: loops,
      log,
      nameServers,
      compiled,
      telemetry,
      patiently,
    })
  } catch (error) {
    services.close()
    await database.close()
    await telemetry?.close(FLUSH_MS)
    throw error
  }
}

async function pauseRelayers(db: Database['db'], log: Logger): Promise<void> {
  const ids = await transact(db, async (tx) => {
    const paused = await pauseAll(tx)
    for (const id of paused) {
      const target = { type: 'relayer', id } as const
      const states = { before: { paused: false }, after: { paused: true } }
      await appendManagement(tx, { author: CLI_AUTHOR, action: 'updateRelayer', target, ...states })
    }
    return paused
  })
  log.warn({ relayers: ids }, 'every relayer is paused; nothing is signed until they are resumed')
}

/** Repeats work while the database is away: a start that loses it waits for it like one that does not find it. */
type Patiently = <T>(what: string, work: () => Promise<T>) => Promise<T>

interface Parts {
  readonly config: Config
  readonly database: Database
  readonly keys: CompleteKeys['keys']
  readonly services: KeyServices
  readonly sealer: Sealer | undefined
  readonly clock: Clock
  readonly clockLoops: readonly Loop[]
  readonly log: Logger
  readonly nameServers: readonly string[] | undefined
  readonly compiled: CompiledContract
  readonly telemetry: Telemetry | undefined
  readonly patiently: Patiently
}

async function assemble(parts: Parts): Promise<App> {
  const { config, database, sealer, clock, log, nameServers, telemetry, patiently } = parts
  const { db } = database
  const owner = randomUUID()
  const connection = parts.services.requested
  const traces = telemetry?.traces
  const isExported = telemetry?.exportsMetrics === true
  const instrumentation = createInstrumentation(config, { clock, log, isExported })
  telemetry?.connect({
    log,
    traceParentOf: (transactionId) => findTraceParent(db, transactionId),
    readMetrics: async () => (await instrumentation?.readSeries()) ?? [],
  })
  const runtimeSet = await patiently('the relayers', () =>
    createRuntimes({ ...parts, connection, instrumentation, traces, owner }),
  )
  const { registry, context, share } = runtimeSet
  const presentEvents = createEventPresenter({ db, runtimesOf: registry.runtimesOf })
  const observer = instrumentation?.deliveries
  const notifier = createEventNotifier((handler) => database.listen(EVENTS_CHANNEL, handler))
  const shared = { config, database, notifier, presentEvents, sealer, owner, clock, log, nameServers }
  const deliveries = await patiently('the notifications', () =>
    createDeliveries({ ...shared, observer, tracer: traces?.deliveries }),
  )
  const submit = createSubmitWorker(context)
  share.onChange(submit.wake)
  const topUps = createTopUpWorker(context, { intervalMs: config.healthIntervalMs })
  const management = createManagement({ ...parts, connection, runtimeSet, owner })
  const tickets = createStreamTickets({ db, clock })
  const access = await patiently('the API keys', () => createAccess({ database, tickets, clock, log }))
  const limits = createSharedLimits({ database, rateLimit: config.rateLimit, clock, log })
  const plugins = await createPluginsOf(parts, { db: database.requests, observer: instrumentation?.plugins })
  const hooks = await createHooksOf(plugins, parts, {
    db,
    owner,
    presentEvents,
    runtimeOf: context.runtimeOf,
    observer: instrumentation?.hooks,
  })
  const permanentWorkers = [
    ...parts.clockLoops,
    ...createReplicationWatch(database, { clock, log }),
    ...share.loops,
    registry.loop,
    access.loop,
    ...limits.loops,
    submit,
    createStuckWorker(context),
    createSpendingWorker(context),
    topUps,
    management.health,
    createAlertWorker({
      db,
      clock,
      log,
      health: management.health,
      endpoints: () => sampleEndpoints(registry),
      heads: () => sampleHeads(registry, clock.monotonic()),
      pollHeads: createHeadPoller(registry, clock),
    }),
    ...deliveries.loops,
    ...hooks.loops,
  ]
  const loops = () => [...permanentWorkers, ...registry.watchLoops()]
  const { readings } = management.health
  instrumentation?.watch({
    database,
    owner,
    loops,
    readings,
    chains: () => networksInUse(registry),
    heads: () => [...headsInUse(registry, clock.monotonic()).values()],
  })
  const stopping = new AbortController()
  // The queries of callers, who wait for the answer, come before those of workers.
  const requests: TransactionsContext = { ...context, db: database.requests, beforeSend: hooks.beforeSend }
  const handlers = createHandlers({
    db: requests.db,
    clock,
    log,
    requestTimeoutMs: config.server.requestTimeoutMs,
    stopping: stopping.signal,
    relayerOf: requests.relayerOf,
    manager: management.manager,
    runtimeOf: requests.runtimeOf,
    runtimesOf: registry.runtimesOf,
    prepare: runtimeSet.prepare,
    interfaces: management.interfaces,
    signers: management.signers,
    networks: management.networks,
    headOf: (id) => headsInUse(registry, clock.monotonic()).get(id)?.state,
    resetChain: management.resetChain,
    transactions: new Transactions(requests),
    sponsors: createSponsors({ db: requests.db, clock, prices: runtimeSet.prices }),
    gather: (relayer, item) => gatherFacts(requests, relayer, item),
    admitCall: createCallAdmission(parts.compiled),
    signTransaction: createTransactionSigner(requests),
    signTypedData: createTypedDataSigner({ ...requests, networks: runtimeSet.networks }),
    signAuthorization: createAuthorizationSigner(requests),
    recordSignature: createSignatureRecorder(requests.db),
    notifier,
    waits: createTransactionWaits({ db: requests.db, clock, notifier, log, stopping: stopping.signal }),
    presentEvents,
    streams: createStreamLimit(config.maxStreams),
    tickets,
    notifications: deliveries.notifications,
    controls: deliveries.controls,
    keys: deliveries.keys,
    bodiesOf: deliveries.bodiesOf,
    apiKeys: access.manager,
    plugins,
    check: createReadinessCheck({ database, chains: () => chainsInUse(registry), loops, clock }),
    visibleIds: (visibility) => visibleRelayerIds(requests.db, visibility),
    metrics: config.metrics ? instrumentation : undefined,
  })
  const observed = instrumentation?.requests
  const networkOfId = async (relayerId: string) => {
    const relayer = await context.relayerOf(relayerId)
    return relayer && networkOf(relayer)
  }
  const server = await openServer(parts, {
    handlers,
    findKey: withKeysOfPlugins(access.directory, plugins),
    mounts: mountsOf(plugins),
    networkOf: networkOfId,
    redeemTicket: access.redeemTicket,
    limiter: limits.limiter,
    observer: observed,
    tracer: traces?.requests,
  })
  // The subscriptions start one after the other, because they share a connection.
  const subscriptions = [
    await database.listen(WORK_CHANNEL, submit.wakeRelayer),
    await database.listen(SLOT_CHANNEL, submit.wakeForSlot),
    await database.listen(PROCESSES_CHANNEL, () => {
      for (const loop of share.loops) loop.wake()
    }),
    await database.listen(RELAYERS_CHANNEL, () => {
      registry.loop.wake()
      topUps.wake()
    }),
    await deliveries.listen(),
    hooks.listen(notifier.subscribe),
    await access.listen(),
  ]
  return {
    begin: async () => {
      const begun = Promise.all(permanentWorkers.map((loop) => loop.start()))
      await Promise.race([begun, setTimeout(FIRST_ROUNDS_MS)])
    },
    listen: async () => {
      const { host, port } = await server.listen()
      const shown = await instrumentation?.listen()
      const url = `http://${host}:${port}`
      plugins?.begin(localUrl({ host, port }))
      return {
        url,
        ...(shown && { metricsUrl: shown.url }),
        ...(config.server.console && { consoleUrl: `${url}/console` }),
        referenceUrl: `${url}/docs`,
        relayersNotSigning: await patiently('the relayers', () => findNotSigning(database.db)),
      }
    },
    compileSchemas: parts.compiled.validator.compile,
    stop: async () => {
      const stopAt = performance.now() + config.shutdownMs
      stopping.abort()
      await Promise.all([
        server.drain({ deadlineMs: config.shutdownMs, graceMs: config.shutdownGraceMs }),
        // A worker that cannot write its last results, because the database is unreachable, does not delay the shutdown: they are written
        // again later.
        ...permanentWorkers.map((loop) =>
          loop.stop().catch((err) => log.error({ err, loop: loop.name }, 'worker stopped with an error')),
        ),
      ])
      plugins?.stop()
      for (const unlisten of subscriptions) await unlisten()
      await deliveries.close()
      await runtimeSet.close()
      parts.services.close()
      await instrumentation?.close()
      // The last metrics are read from the database.
      await telemetry?.close(Math.min(FLUSH_MS, Math.max(MIN_FLUSH_MS, stopAt - performance.now())))
      await database.close()
    },
  }
}
