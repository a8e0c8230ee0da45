import type { Database } from '../database/db.ts'
import { type Replication, readDurability, readReplication, writeProbe } from '../database/durability.ts'
import { isReadOnly } from '../database/errors.ts'
import type { HealthReport } from '../handlers/service.ts'

import type { Clock } from '../lib/time.ts'
import type { Logger } from '../log.ts'
import { describeHead } from '../networks/head-age.ts'
import { countDisabled } from '../relayers/health/health-store.ts'
import { createLoop, type Loop } from '../workers/loop.ts'
import type { ChainInUse } from './chains-in-use.ts'

/** Time in ms for which a result is reused, because supervisors poll often. */
const FRESH_MS = 2_000

/** Timeout of a check, in ms. A part without an answer counts as failing. */
const TIMEOUT_MS = 3_000

/** A loop without a successful round for this time, in ms, counts as failing. */
const QUIET_LIMIT_MS = 60_000

interface ReadinessOptions {
  readonly database: Database
  /** The chains in use, by the name of their endpoint group. */
  readonly chains: () => ReadonlyMap<string, Pick<ChainInUse, 'network' | 'chain'>>
  readonly loops: () => readonly Loop[]
  readonly clock: Clock
}

type Component = HealthReport['networks']

/** Checks database, networks, workers and relayers, at most once in two seconds for any number of callers. */
export function createReadinessCheck(options: ReadinessOptions): () => Promise<HealthReport> {
  let last: { at: number; report: Promise<HealthReport> } | undefined
  const probe = createProbe(options.database)
  return () => {
    const now = options.clock.monotonic()
    if (last === undefined || now - last.at >= FRESH_MS) last = { at: now, report: checkAll(options, probe) }
    return last.report
  }
}

async function checkAll(
  { database, chains, loops, clock }: ReadinessOptions,
  probe: Probe,
): Promise<HealthReport> {
  const [store, relayers, networks] = await Promise.all([
    checkWithin(clock, checkDatabase(database, probe)),
    checkWithin(clock, checkRelayers(database)),
    Promise.all(
      [...chains()].map(async ([name, used]) => ({
        name,
        ...(await checkWithin(clock, checkChain(used, clock))),
      })),
    ),
  ])
  const workers = loops().map((loop) => checkLoop(loop))
  return {
    database: store,
    networks: combine(networks),
    workers: combine(workers),
    // A disabled relayer does not stop the others, so it only degrades the service.
    relayers: relayers.status === 'unhealthy' ? { ...relayers, status: 'degraded' } : relayers,
    at: new Date(clock.now()),
  }
}

/** Writes and commits; undefined while an earlier write has not ended. */
type Probe = () => Promise<void> | undefined

/** The next write waits for the last one: checks during an outage must not take all connections. */
function createProbe({ db }: Database): Probe {
  let isRunning = false
  return () => {
    if (isRunning) return undefined
    isRunning = true
    return writeProbe(db).finally(() => {
      isRunning = false
    })
  }
}

/**
 * A server that answers can still be of no use: it takes no writes, or its commits wait for a standby that is
 * gone.
 */
async function checkDatabase(database: Database, probe: Probe): Promise<HealthReport['database']> {
  try {
    const written = probe()
    if (written === undefined) return { status: 'unhealthy', error: 'The database ends no commit.' }
    await written
    const durability = await readDurability(database.db)
    const replication = await readReplication(database)
    return { status: 'healthy', durability, ...(replication && { replication }) }
  } catch (error) {
    const what = isReadOnly(error) ? 'takes no writes' : 'does not answer'
    return { status: 'unhealthy', error: `The database ${what}.` }
  }
}

/** Reports only numbers, because readiness needs no API key. The list of relayers has the details. */
async function checkRelayers({ db }: Database): Promise<Component> {
  try {
    const { total, byType } = await countDisabled(db)
    const disabled = [...byType.values()].reduce((sum, count) => sum + count, 0)
    if (disabled === 0) return { status: 'healthy' }
    const reasons = [...byType].map(([type, count]) => `${count} ${type}`).join(', ')
    const error = `${disabled} of ${total} relayers ${disabled === 1 ? 'is' : 'are'} disabled: ${reasons}.`
    return { status: 'degraded', error }
  } catch {
    return { status: 'degraded', error: 'The database does not answer.' }
  }
}

async function checkChain(used: Pick<ChainInUse, 'network' | 'chain'>, clock: Clock): Promise<Component> {
  const each = await used.chain.verify({ each: true })
  if (each.kind === 'ok') return checkEndpoints(used, clock)
  if (each.kind === 'unknown') return { status: 'unhealthy', error: 'No endpoint answers.' }
  const answer = await used.chain.verify()
  return { status: answer.kind === 'ok' ? 'degraded' : 'unhealthy', error: each.refusal.detail }
}

/** Reports only numbers, because readiness needs no API key. The diagnosis has the details. */
function checkEndpoints({ network, chain }: Pick<ChainInUse, 'network' | 'chain'>, clock: Clock): Component {
  const head = describeHead(network, chain.seenHead(), clock.monotonic())
  if (head?.halted)
    return { status: 'degraded', error: `No new block for ${Math.floor(head.ageMs / 1_000)} s.` }
  const endpoints = chain.endpoints()
  const failing = endpoints.filter(({ healthy }) => !healthy).length
  if (failing === 0) return { status: 'healthy' }
  return { status: 'degraded', error: `${failing} of ${endpoints.length} endpoints failed recently.` }
}

function checkLoop(loop: Loop): Component & { name: string } {
  const { name, quietMs, error } = loop.health()
  if (error !== undefined) return { name, status: 'unhealthy', error: 'The last round failed; see the log.' }
  return quietMs > QUIET_LIMIT_MS
    ? { name, status: 'unhealthy', error: 'No round finished recently.' }
    : { name, status: 'healthy' }
}

async function checkWithin<T extends Component>(clock: Clock, check: Promise<T>): Promise<T | Component> {
  const stop = new AbortController()
  const late = clock
    .sleep(TIMEOUT_MS, stop.signal)
    .then((): Component => ({ status: 'unhealthy', error: 'No answer within 3 s.' }))
  try {
    return await Promise.race([check, late])
  } finally {
    stop.abort()
  }
}

function combine(details: (Component & { name: string })[]): Component {
  if (details.every(({ status }) => status === 'healthy')) return { status: 'healthy', details }
  const dead = details.every(({ status }) => status === 'unhealthy')
  return { status: dead ? 'unhealthy' : 'degraded', details }
}

/** Time in ms between two looks at the standbys. */
const WATCH_EVERY_MS = 30_000

const REPLICATION_MESSAGES: Readonly<Record<Replication, string>> = {
  synchronous: 'a standby of the database has every answered commit',
  asynchronous: 'no standby of the database is synchronous: a fail-over loses the last commits',
  interrupted: 'no synchronous standby of the database is there: no commit ends',
  none: 'the database has no standby that it knows',
  unknown: 'the standbys of the database cannot be seen: grant pg_monitor to the user of the service',
}

/** A change to one of these is what an operator has not meant. */
const WORSE: readonly Replication[] = ['asynchronous', 'interrupted']

/**
 * Creates the loop that says in the log what the standbys of PostgreSQL have, at the start and after each
 * change; none for the embedded database.
 */
export function createReplicationWatch(
  database: Database,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): readonly Loop[] {
  if (database.engine === 'pglite') return []
  let last: Replication | undefined
  const work = async () => {
    const now = await readReplication(database)
    if (now === undefined || now === last) return
    const isLost = last === 'synchronous'
    last = now
    log[isLost || WORSE.includes(now) ? 'warn' : 'info']({ replication: now }, REPLICATION_MESSAGES[now])
  }
  return [createLoop({ name: 'replication', intervalMs: WATCH_EVERY_MS, clock, log, work })]
}
