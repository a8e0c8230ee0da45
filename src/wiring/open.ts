import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { appendManagement } from '../audit/append-store.ts'
import { CLI_AUTHOR } from '../audit/entry.ts'
import type { Config } from '../config/types.ts'
import { type CompiledContract, compileContract } from '../contract/compile.ts'
import { type DatabaseOptions, openDatabase } from '../database/database.ts'
import { createDatabaseClock } from '../database/database-clock.ts'
import type { Database } from '../database/db.ts'
import { waitForServer } from '../database/errors.ts'
import { transact } from '../database/locks/transact.ts'
import { withSealedColumns } from '../database/sealed-columns.ts'
import { type Clock, systemClock } from '../lib/time.ts'
import { createLogger } from '../log.ts'
import { configuredAccounts } from '../relayers/accounts/accounts.ts'
import { pauseAll } from '../relayers/store.ts'
import { type Sealer, sealerOf } from '../security/secrets.ts'
import { type CompleteKeys, loadKeys } from '../signers/load.ts'
import { createKeyServices, type KeyServices } from '../signers/providers/connect.ts'
import type { Telemetry } from '../telemetry/open-telemetry.ts'
import { startTelemetry } from '../telemetry/telemetry.ts'
import { createLoop, type Loop } from '../workers/loop.ts'
import { prepareDatabase } from './open-server.ts'

/** The parts from which a service is created, besides its configuration. */
export interface AppDeps {
  /** Default: the time of the database server, where there is one, and that of the machine otherwise. */
  readonly clock?: Clock
  readonly log?: Logger
  /**
   * `address:port` of the name servers that resolve the hosts of webhooks and of callers' RPC urls. Default:
   * those of the system.
   */
  readonly nameServers?: readonly string[]
  /**
   * Spares a process that creates several services most of the time of their starts. Default: read and
   * compiled.
   */
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

/** What a service stands on: its keys, its database, migrated and configured, and its time. */
export interface Opened {
  readonly config: Config
  readonly database: Database
  readonly keys: CompleteKeys['keys']
  readonly services: KeyServices
  readonly sealer: Sealer | undefined
  readonly clock: Clock
  /** Keep the clock right while the service runs. */
  readonly clockLoops: readonly Loop[]
  readonly log: Logger
  readonly nameServers: readonly string[] | undefined
  readonly compiled: CompiledContract
  readonly telemetry: Telemetry | undefined
  /** Identifies this process in leases. */
  readonly owner: string
  readonly patiently: Patiently
  /**
   * Closes everything. The last exports of telemetry get this many ms; the last metrics are read from the
   * database.
   */
  close(flushMs: number): Promise<void>
}

/**
 * Repeats work while the database is away: a start that loses it waits for it like one that does not find it.
 */
type Patiently = <T>(what: string, work: () => Promise<T>) => Promise<T>

/** The longest time in ms for which a stop waits for the last exports. */
export const FLUSH_MS = 5_000

/**
 * Loads the keys, opens and migrates the database, and applies the configuration.
 * @throws ConfigError with all problems of the configuration, before anything is started
 */
export async function open(config: Config, deps: AppDeps): Promise<Opened> {
  const { log = createLogger({ level: config.logLevel }), nameServers, signal, startEngine } = deps
  const services = createKeyServices(config, nameServers)
  const loaded = await loadKeys(config.signers, services.configured)
  const { telemetry = await startTelemetry(config.telemetry) } = deps
  // Accounts of keys whose service is silent are known when the database is open.
  const accounts = loaded.remote.size === 0 ? await configuredAccounts(config, loaded.keys) : undefined
  const sealer = sealerOf(config.sealingKey)
  const observer = telemetry?.traces?.queries
  const opened = withSealedColumns(
    await openDatabase({ ...config.database, signal, startEngine, observer }, log),
    sealer,
  )
  // A start does nothing that a second time would do again: migrations, and the entries of the file, are
  // committed with the note that they are done.
  const { waitMs } = config.database
  const patiently: Patiently = (what, work) =>
    waitForServer(work, { waitMs, what, blockedBy: opened.blockedBy, signal, log })
  const database: Database = {
    ...opened,
    listen: (channel, handler) => patiently('notifications', () => opened.listen(channel, handler)),
  }
  const close = async (flushMs: number) => {
    services.close()
    await telemetry?.close(flushMs)
    await database.close()
  }
  try {
    const { keys } = await patiently('migrations and the configuration', () =>
      prepareDatabase({ config, database, sealer, loaded, accounts, log }),
    )
    if (deps.paused) await patiently('the pause of all relayers', () => pauseRelayers(database.db, log))
    const { compiled = await compileContract() } = deps
    const { clock, loops: clockLoops } = deps.clock
      ? { clock: deps.clock, loops: [] }
      : await patiently('the time', () => createServiceClock(database, log))
    const owner = randomUUID()
    const stores = { database, keys, services, sealer, compiled, telemetry }
    return { config, ...stores, clock, clockLoops, log, nameServers, owner, patiently, close }
  } catch (error) {
    await close(FLUSH_MS)
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

interface ServiceClock {
  readonly clock: Clock
  /** Keep the clock right while the service runs. */
  readonly loops: readonly Loop[]
}

/**
 * Creates the clock of the service: processes that share a database server agree about its time; others have
 * that of the machine.
 */
async function createServiceClock({ engine, db }: Database, log: Logger): Promise<ServiceClock> {
  if (engine === 'pglite') return { clock: systemClock, loops: [] }
  const clock = await createDatabaseClock(db, systemClock)
  return { clock, loops: [createClockWorker(clock, log)] }
}

/** A clock that can be synchronised with another one. */
interface MeasuredClock extends Clock {
  measure(): Promise<void>
}

/** Time in ms between two synchronisations. The clocks of machines drift apart by some ms in this time. */
const INTERVAL_MS = 60_000

/** Creates the loop that keeps the clock of the process at the time of the database. */
function createClockWorker(clock: MeasuredClock, log: Logger): Loop {
  return createLoop({ name: 'clock', intervalMs: INTERVAL_MS, clock, log, work: clock.measure })
}
