import { createSignatureRecorder } from '../audit/signatures.ts'
import { PROCESSES_CHANNEL } from '../database/processes.ts'
import { gatherFacts } from '../diagnosis/facts.ts'
import { createEventNotifier } from '../events/notifier.ts'
import { EVENTS_CHANNEL } from '../events/store.ts'
import { createStreamLimit } from '../events/stream-limit.ts'
import { createStreamTickets } from '../events/stream-tickets-store.ts'
import { createEventPresenter } from '../handlers/present/event.ts'
import type { Service } from '../handlers/service.ts'
import { createCallAdmission } from '../http/guards.ts'
import { namesOfNetworks } from '../networks/directory.ts'
import { networkOf } from '../relayers/relayer.ts'
import { visibleRelayerIds } from '../relayers/store.ts'
import { createScheduleManager } from '../schedules/manage.ts'
import { createScheduleRunner } from '../schedules/run.ts'
import { SCHEDULES_CHANNEL } from '../schedules/schedules-store.ts'
import { secretFields } from '../second-person/change.ts'
import { createSecondPerson, type SecondPerson } from '../second-person/second-person.ts'
import { createSponsors } from '../sponsoring/sponsor.ts'
import type { TransactionsContext } from '../transactions/model/runtime.ts'
import {
  createAuthorizationSigner,
  createTransactionSigner,
  createTypedDataSigner,
} from '../transactions/requests/signing.ts'
import { Transactions } from '../transactions/requests/transactions.ts'
import { createTransactionWaits } from '../transactions/requests/waits.ts'
import { findTraceParent } from '../transactions/store/lookups-store.ts'
import { SLOT_CHANNEL, WORK_CHANNEL } from '../transactions/store/transactions-store.ts'
import { createAlertWorker } from '../workers/alert-worker.ts'
import type { Loop } from '../workers/loop.ts'
import {
  createAfterWorker,
  createSpendingWorker,
  createStuckWorker,
  createTopUpWorker,
} from '../workers/periodic-workers.ts'
import { createScheduleWorker } from '../workers/schedule-worker.ts'
import { createSubmitWorker } from '../workers/submit-worker.ts'
import { createAccess } from './access.ts'
import {
  chainsInUse,
  createHeadPoller,
  headsInUse,
  networksInUse,
  sampleEndpoints,
  sampleHeads,
} from './chains-in-use.ts'
import { createHandlers } from './create-handlers.ts'
import { createRuntimes } from './create-runtimes.ts'
import { createDeliveries } from './deliveries.ts'
import { createManagement } from './management.ts'
import { createInstrumentation } from './metrics.ts'
import type { Opened } from './open.ts'
import { openServer } from './open-server.ts'
import { createHooksOf, createPluginsOf, mountsOf, withKeysOfPlugins } from './plugins.ts'
import { createReadinessCheck, createReplicationWatch } from './readiness.ts'
import { RELAYERS_CHANNEL } from './relayer-registry.ts'
import { createSharedLimits } from './shared-limits.ts'

/** The parts of a service, connected and not yet started. */
export type Connected = Awaited<ReturnType<typeof connect>>

/**
 * Creates the parts of a service and connects them: domains, workers, handlers, and the server that calls
 * them.
 */
export async function connect(opened: Opened) {
  const domains = await createDomains(opened)
  const workers = createWorkers(opened, domains)
  const stopping = new AbortController()
  const server = await createServer(opened, { domains, workers, stopping: stopping.signal })
  const unlisten = await listenToDatabase(opened, { domains, workers })
  return { ...domains, ...workers, server, stopping, unlisten }
}

type Domains = Awaited<ReturnType<typeof createDomains>>

/** What is needed from the database comes one after the other: each part waits for a server that is away. */
async function createDomains(opened: Opened) {
  const { config, database, clock, log, owner, services, telemetry, patiently } = opened
  const { db } = database
  const connection = services.requested
  const traces = telemetry?.traces
  const isExported = telemetry?.exportsMetrics === true
  const instrumentation = createInstrumentation(config, { clock, log, isExported })
  telemetry?.connect({
    log,
    traceParentOf: (transactionId) => findTraceParent(db, transactionId),
    readMetrics: async () => (await instrumentation?.readSeries()) ?? [],
  })
  const runtimeSet = await patiently('the relayers', () =>
    createRuntimes({ ...opened, connection, instrumentation, traces }),
  )
  const { registry, context } = runtimeSet
  const presentEvents = createEventPresenter({ db, runtimesOf: registry.runtimesOf })
  const notifier = createEventNotifier((handler) => database.listen(EVENTS_CHANNEL, handler))
  const observer = instrumentation?.deliveries
  const deliveries = await patiently('the notifications', () =>
    createDeliveries({ ...opened, notifier, presentEvents, observer, tracer: traces?.deliveries }),
  )
  const management = createManagement({ ...opened, connection, runtimeSet })
  const tickets = createStreamTickets({ db, clock })
  const access = await patiently('the API keys', () =>
    createAccess({ database, tickets, clock, log, settings: config.signIn }),
  )
  const plugins = await createPluginsOf(opened, { db, observer: instrumentation?.plugins })
  const hooks = await createHooksOf(plugins, opened, {
    db,
    owner,
    presentEvents,
    runtimeOf: context.runtimeOf,
    observer: instrumentation?.hooks,
  })
  const events = { presentEvents, notifier, tickets }
  // Callers and schedules send alike: the operator's programs are asked about both.
  const sending: TransactionsContext = { ...context, db, beforeSend: hooks.beforeSend }
  const transactions = new Transactions(sending)
  const schedules = createScheduleManager({ context: sending, transactions })
  const requests = { sending, transactions, schedules }
  return {
    instrumentation,
    runtimeSet,
    ...events,
    deliveries,
    management,
    access,
    plugins,
    hooks,
    ...requests,
  }
}

type Workers = ReturnType<typeof createWorkers>

function createWorkers(opened: Opened, domains: Domains) {
  const { runtimeSet, management, access, deliveries, hooks, sending, transactions } = domains
  const { config, database, clock, clockLoops, log } = opened
  const { registry, context, share, networks } = runtimeSet
  const submit = createSubmitWorker(context)
  share.onChange(submit.wake)
  const topUps = createTopUpWorker(context, { intervalMs: config.healthIntervalMs })
  const schedules = createScheduleWorker(context, createScheduleRunner({ context: sending, transactions }))
  const limits = createSharedLimits({ database, rateLimit: config.rateLimit, clock, log })
  const permanent: readonly Loop[] = [
    ...clockLoops,
    ...createReplicationWatch(database, { clock, log }),
    ...share.loops,
    registry.loop,
    ...access.loops,
    ...limits.loops,
    submit,
    createStuckWorker(context),
    createSpendingWorker(context),
    createAfterWorker(context),
    topUps,
    schedules,
    management.health,
    createAlertWorker({
      db: database.db,
      clock,
      log,
      health: management.health,
      endpoints: () => sampleEndpoints(registry),
      heads: () => sampleHeads(registry, clock.monotonic()),
      pollHeads: createHeadPoller(registry, clock),
      namesOf: namesOfNetworks(networks),
    }),
    ...deliveries.loops,
    ...hooks.loops,
  ]
  const loops = () => [...permanent, ...registry.watchLoops()]
  return { submit, topUps, schedules, limiter: limits.limiter, permanent, loops }
}

interface Connecting {
  readonly domains: Domains
  readonly workers: Workers
}

async function createServer(
  opened: Opened,
  { domains, workers, stopping }: Connecting & { readonly stopping: AbortSignal },
) {
  const { database, clock, owner, telemetry } = opened
  const { instrumentation, runtimeSet, access, plugins, management } = domains
  const { registry, context } = runtimeSet
  instrumentation?.watch({
    database,
    owner,
    loops: workers.loops,
    readings: management.health.readings,
    chains: () => networksInUse(registry),
    heads: () => [...headsInUse(registry, clock.monotonic()).values()],
  })
  return openServer(opened, {
    handlers: createHandlers(
      serviceOf(opened, { domains, workers, stopping }),
      createCallAdmission(opened.compiled),
    ),
    findKey: withKeysOfPlugins(access.directory, plugins),
    signIn: access.signIn?.pages,
    mounts: mountsOf(plugins, instrumentation?.plugins),
    networkOf: async (relayerId) => {
      const relayer = await context.relayerOf(relayerId)
      return relayer && networkOf(relayer)
    },
    redeemTicket: access.redeemTicket,
    limiter: workers.limiter,
    observer: instrumentation?.requests,
    tracer: telemetry?.traces?.requests,
  })
}

function serviceOf(
  { config, database, clock, log, compiled }: Opened,
  { domains, workers, stopping }: Connecting & { readonly stopping: AbortSignal },
): Service {
  const { instrumentation, runtimeSet, deliveries, management, access } = domains
  const { registry, networks, prices, prepare } = runtimeSet
  const { db } = database
  const { sending: context, transactions, schedules } = domains
  const { relayerOf, runtimeOf } = context
  const { manager, interfaces, signers, keyCreator, resetChain } = management
  const { notifier, presentEvents, tickets, plugins } = domains
  const { notifications, controls, keys, bodiesOf } = deliveries
  return {
    db,
    clock,
    log,
    requestTimeoutMs: config.server.requestTimeoutMs,
    stopping,
    relayerOf,
    runtimeOf,
    runtimesOf: registry.runtimesOf,
    prepare,
    manager,
    interfaces,
    signers,
    keyCreator,
    networks: management.networks,
    headOf: (id) => headsInUse(registry, clock.monotonic()).get(id)?.state,
    resetChain,
    transactions,
    schedules,
    sponsors: createSponsors({ db, clock, prices }),
    gather: (relayer, item) => gatherFacts(context, relayer, item),
    signTransaction: createTransactionSigner(context),
    signTypedData: createTypedDataSigner({ ...context, networks }),
    signAuthorization: createAuthorizationSigner(context),
    recordSignature: createSignatureRecorder(db),
    notifier,
    waits: createTransactionWaits({ db, clock, notifier, log, stopping }),
    presentEvents,
    streams: createStreamLimit(config.maxStreams),
    tickets,
    notifications,
    controls,
    keys,
    bodiesOf,
    publicUrl: config.publicUrl,
    apiKeys: access.manager,
    sessions: access.signIn?.sessions,
    secondPerson: config.secondPerson && createSecondPersonOf({ db, clock, compiled }, config.secondPerson),
    plugins,
    check: createReadinessCheck({
      database,
      chains: () => chainsInUse(registry),
      loops: workers.loops,
      clock,
    }),
    visibleIds: (visibility) => visibleRelayerIds(db, visibility),
    metrics: config.metrics ? instrumentation : undefined,
  }
}

/** Creates what stands before the handlers if one person is not enough. */
function createSecondPersonOf(
  { db, clock, compiled }: Pick<Opened, 'clock' | 'compiled'> & Pick<Opened['database'], 'db'>,
  { expiresMs }: NonNullable<Opened['config']['secondPerson']>,
): SecondPerson {
  const { operations, document } = compiled.contract
  return createSecondPerson({
    db,
    clock,
    expiresMs,
    secrets: secretFields(document),
    scopeOf: (id) => operations.find((operation) => operation.id === id)?.scope,
    admitCall: createCallAdmission(compiled),
  })
}

/** The subscriptions start one after the other, because they share a connection. Returns what ends them. */
async function listenToDatabase(
  { database }: Opened,
  { domains, workers }: Connecting,
): Promise<() => Promise<void>> {
  const { runtimeSet, deliveries, hooks, notifier, access } = domains
  const { submit, topUps, schedules } = workers
  const subscriptions = [
    await database.listen(WORK_CHANNEL, submit.wakeRelayer),
    await database.listen(SLOT_CHANNEL, submit.wakeForSlot),
    await database.listen(SCHEDULES_CHANNEL, schedules.announced),
    await database.listen(PROCESSES_CHANNEL, () => {
      for (const loop of runtimeSet.share.loops) loop.wake()
    }),
    await database.listen(RELAYERS_CHANNEL, () => {
      runtimeSet.registry.loop.wake()
      topUps.wake()
    }),
    await deliveries.listen(),
    hooks.listen(notifier.subscribe),
    await access.listen(),
  ]
  return async () => {
    for (const unlisten of subscriptions) await unlisten()
  }
}
