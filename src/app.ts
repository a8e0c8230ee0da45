import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { ConfigError } from './configuration/problems.ts'
import { loadContract } from './contract/document.ts'
import { type Database, openDatabase } from './database/database.ts'
import { endAllLeases } from './database/lease.ts'
import { migrate } from './database/migrate.ts'
import { createDeliveries } from './deliveries.ts'
import { gatherFacts } from './diagnosis/facts.ts'
import { EVENTS_CHANNEL } from './events/store.ts'
import { createWakers } from './events/wakers.ts'
import { createHandlers } from './handlers/create-handlers.ts'
import { createEventPresenter } from './handlers/present-event.ts'
import { createHttpServer } from './http/server.ts'
import { createLogger } from './log.ts'
import { createObservation, type Observation } from './observation.ts'
import { createOperators, type Operators } from './operators.ts'
import { createReadinessCheck } from './readiness.ts'
import { relayerAddresses } from './relayers/addresses.ts'
import { applyConfig } from './relayers/apply.ts'
import { describeChange } from './relayers/changes.ts'
import type { Relayer } from './relayers/relayer.ts'
import { listRelayers } from './relayers/store.ts'
import { loadKeys } from './signers/load.ts'
import { createAcceptor } from './transactions/accept.ts'
import { createPendingCanceler } from './transactions/cancel-pending.ts'
import type { TransactionsContext } from './transactions/context.ts'
import { createReplacer } from './transactions/replace.ts'
import { createTransactionSigner } from './transactions/sign-only.ts'
import { WORK_CHANNEL } from './transactions/store.ts'
import type { Loop } from './workers/loop.ts'
import { createSubmitWorker } from './workers/submit-worker.ts'
import { createWatchWorker } from './workers/watch-worker.ts'

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
  const addresses = await relayerAddresses(config, keys)
  const observation = createObservation(config, { clock, log })
  const database = await openDatabase(config.database, log)
  try {
    const relayers = await prepareDatabase({ config, database, addresses, log })
    const operators = await createOperators({ config, keys, clock, log, rpcObserver: observation?.rpc })
    await verifyChains(operators, relayers, log)
    return await assemble({ config, database, operators, relayers, observation, clock, log })
  } catch (error) {
    await database.close()
    throw error
  }
}

interface Preparation {
  readonly config: Config
  readonly database: Database
  readonly addresses: ReadonlyMap<string, string>
  readonly log: Logger
}

async function prepareDatabase({ config, database, addresses, log }: Preparation): Promise<Relayer[]> {
  const applied = await migrate(database)
  if (applied.length > 0) log.info({ migrations: applied }, 'database migrated')
  if (database.engine === 'pglite') await endAllLeases(database.db)
  const changes = await applyConfig(database.db, config, addresses)
  log.info(
    { changes: changes.map(describeChange) },
    changes.length === 0 ? 'configuration unchanged' : 'configuration applied',
  )
  const { items } = await listRelayers(database.db, { offset: 0, limit: config.relayers.length })
  return items
}

/** A wrong chain id is a mistake of the configuration; a silent node is weather, and the start goes on. */
async function verifyChains(
  { operatorOf, chains }: Operators,
  relayers: readonly Relayer[],
  log: Logger,
): Promise<void> {
  for (const relayer of relayers) operatorOf(relayer)
  const answers = await Promise.all(
    [...chains].map(async ([name, chain]) => ({ name, answer: await chain.verify() })),
  )
  const problems = answers.flatMap(({ answer }) => (answer.kind === 'refused' ? [answer.refusal.detail] : []))
  if (problems.length > 0) throw new ConfigError(problems)
  for (const { name, answer } of answers) {
    if (answer.kind === 'unknown')
      log.warn({ network: name, detail: answer.detail }, 'no endpoint answers; it is asked again')
  }
}

interface Parts {
  readonly config: Config
  readonly database: Database
  readonly operators: Operators
  readonly relayers: readonly Relayer[]
  readonly observation: Observation | undefined
  readonly clock: Clock
  readonly log: Logger
}

async function assemble(parts: Parts): Promise<App> {
  const { config, database, operators, relayers, observation, clock, log } = parts
  const { operatorOf } = operators
  const { maxInFlight } = config
  const owner = randomUUID()
  const observer = observation?.transactions
  const context = { db: database.db, clock, log, maxInFlight, owner, observer, operatorOf }
  const submit = createSubmitWorker(context)
  const known = new Map(relayers.map((relayer) => [relayer.id, operatorOf(relayer)]))
  const presentEvents = createEventPresenter({ db: database.db, operatorOf: (id) => known.get(id) })
  const wakers = createWakers()
  const stopping = new AbortController()
  const deliveries = await createDeliveries({
    config,
    database,
    presentEvents,
    owner,
    clock,
    log,
    observer: observation?.deliveries,
  })
  const loops = [submit, ...watchLoops(context, operators, relayers), ...deliveries.loops]
  observation?.watch({ database, owner, loops })
  const replacer = createReplacer(context)
  const handlers = createHandlers({
    db: database.db,
    operatorOf,
    accept: createAcceptor(context),
    replacer,
    cancelPending: createPendingCanceler(context, replacer),
    signTransaction: createTransactionSigner(context),
    gather: (relayer, item) => gatherFacts(context, relayer, item),
    clock,
    wakers,
    presentEvents,
    stopping: stopping.signal,
    ...deliveries,
    check: createReadinessCheck({ database, chains: operators.chains, loops, clock }),
  })
  const server = await createHttpServer({
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
    metrics: observation && { observer: observation.requests, read: observation.read },
    log,
    clock,
  })
  // One after the other: they share a connection.
  const ears = [
    await database.listen(WORK_CHANNEL, (relayerId) => submit.wake(relayerId)),
    await database.listen(EVENTS_CHANNEL, wakers.wake),
    await deliveries.listen(),
  ]
  return {
    start: async () => {
      for (const loop of loops) loop.start()
      const { host, port } = await server.listen()
      const shown = await observation?.listen()
      return { url: `http://${host}:${port}`, ...(shown && { metricsUrl: shown.url }) }
    },
    stop: async () => {
      stopping.abort()
      await Promise.all([server.drain(config.shutdownMs), ...loops.map((loop) => loop.stop())])
      for (const unlisten of ears) await unlisten()
      await deliveries.close()
      await observation?.close()
      await database.close()
    },
  }
}

function watchLoops(
  context: TransactionsContext,
  { operatorOf, keyOf }: Operators,
  relayers: readonly Relayer[],
): Loop[] {
  const groups = Map.groupBy(relayers, keyOf)
  return [...groups].flatMap(([key, members]) => {
    const [first] = members
    return first === undefined
      ? []
      : [createWatchWorker(context, { key, operator: operatorOf(first), relayers: members })]
  })
}
