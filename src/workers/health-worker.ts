import type { Logger } from 'pino'
import type { Chain } from '../chains/chain.ts'
import type { Db } from '../database/db.ts'
import { omitUndefined } from '../lib/object.ts'
import type { Clock } from '../lib/time.ts'
import type { Checked, HealthChecker } from '../relayers/health/check-health.ts'
import {
  type HealthMemory,
  type HealthReading,
  type HealthTarget,
  NO_MEMORY,
  untilNextCheck,
} from '../relayers/health/health.ts'
import { findSubjects, type HealthSubject, listIds } from '../relayers/health/health-store.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { createLeaseHolder, createLoop, type Loop } from './loop.ts'

/** Time in ms between two rounds of the loop. A round costs nothing while no check is due. */
const ROUND_MS = 1_000

/**
 * The lowest limit of the checks that one round starts. A lower one takes more calls to nodes, because each
 * round has calls of its own.
 */
const LOWEST_LIMIT = 1_500

/**
 * The most calls for balances that one chain gets in an interval. Where more would be needed, the accounts
 * take turns, the longest waiting first, so that the calls do not grow with the number of relayers.
 */
const BALANCE_CALLS = 8

/**
 * The number of accounts of a chain that are looked at whole in each interval although they seem to be at
 * rest, in turns.
 */
const IN_TURN = 2

/** Time in ms that the lease lasts. Two processes that check at the same time only check twice. */
const LEASE_MS = 15_000

/** Time in ms between two tries of a process to get the lease. */
const STANDBY_MS = 5_000

interface HealthWorkerDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /** Identifies this process in leases. */
  readonly owner: string
  readonly checker: HealthChecker
  /** Gives the chain and accounts of a relayer; throws when it cannot act. */
  readonly prepare: (relayer: Relayer) => Promise<Pick<HealthTarget, 'chain' | 'sourceAccounts'>>
  /** Time in ms between two checks of an enabled relayer. */
  readonly intervalMs: number
}

interface Plan {
  /** The time of the next check in ms of the monotonic clock; infinite while a check runs. */
  readonly dueAt: number
  /** The result of the last check, with its chain: a result of one chain says nothing about another. */
  readonly seen?: { readonly chain: Chain; readonly memory: HealthMemory }
  /** The numbers that the last check read. */
  readonly reading?: HealthReading
}

/** What the checks of one chain may still ask in an interval. */
interface Allowance {
  /** The number of the interval. */
  readonly interval: number
  accounts: number
  /** The accounts whose turn it is. */
  readonly inTurn: ReadonlySet<string>
}

/** The loop, and the numbers of its last checks. */
export interface HealthWorker extends Loop {
  /**
   * Returns nothing in processes without the lease, so that no process shows old numbers beside the new ones
   * of another.
   */
  readings(): HealthReading[]
  /** Returns true while this process has the lease. */
  isLeading(): boolean
}

/**
 * Checks every relayer, including paused ones, in one process at a time: at the start, at intervals while it
 * is enabled, and more often after it was disabled. Chains are checked in parallel, and none waits for
 * another.
 */
export function createHealthWorker(deps: HealthWorkerDeps): HealthWorker {
  const { db, clock, log, owner, intervalMs } = deps
  const lease = createLeaseHolder({
    db,
    clock,
    owner,
    name: 'health',
    ttlMs: LEASE_MS,
    standbyMs: STANDBY_MS,
  })
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  const plans = new Map<string, Plan>()
  const allowances = new WeakMap<Chain, Allowance>()
  const startedAt = clock.monotonic()
  let listAt = Number.NEGATIVE_INFINITY
  let leads = false

  /** Picks up new and removed relayers. A new one is due immediately. */
  async function listRelayers(now: number): Promise<void> {
    listAt = now + intervalMs
    const present = new Set(await listIds(db))
    for (const id of [...plans.keys()].filter((known) => !present.has(known))) plans.delete(id)
    for (const id of present) if (!plans.has(id)) plans.set(id, { dueAt: now })
  }

  /** All enabled relayers are due at the same time, so that few calls read the balances of all of them. */
  const intervalAt = (now: number) => Math.floor((now - startedAt) / intervalMs)
  const nextInterval = (now: number) => startedAt + (intervalAt(now) + 1) * intervalMs

  function allowanceOf(chain: Chain, now: number): Allowance {
    const interval = intervalAt(now)
    const present = allowances.get(chain)
    if (present?.interval === interval) return present
    const lookedAt = (id: string) => plans.get(id)?.seen?.memory.looked?.at ?? Number.NEGATIVE_INFINITY
    const due = [...plans].flatMap(([id, { dueAt, seen }]) =>
      seen?.chain === chain && dueAt <= now ? [id] : [],
    )
    const inTurn = new Set(due.toSorted((one, other) => lookedAt(one) - lookedAt(other)).slice(0, IN_TURN))
    const created = { interval, accounts: BALANCE_CALLS * chain.balancesPerCall(), inTurn }
    allowances.set(chain, created)
    return created
  }

  /** Takes the due relayers, the longest waiting first. */
  function takeDue(now: number): string[] {
    const due = [...plans].filter(([, { dueAt }]) => dueAt <= now)
    const taken: string[] = []
    const most = mostPerRound(plans.size, intervalMs)
    for (const [id, { seen }] of due.toSorted(([, one], [, other]) => one.dueAt - other.dueAt)) {
      if (taken.length >= most) break
      if (seen !== undefined && allowanceOf(seen.chain, now).accounts-- <= 0) continue
      taken.push(id)
    }
    return taken
  }

  /** Finds the due relayers. It reads the database only when a check is due or relayers may be new. */
  async function findDue(): Promise<HealthSubject[]> {
    const now = clock.monotonic()
    if (now >= listAt) await listRelayers(now)
    const due = takeDue(now)
    const subjects = await findSubjects(db, due)
    const found = new Set(subjects.map(({ relayer }) => relayer.id))
    for (const id of due) if (!found.has(id)) plans.delete(id)
    return subjects
  }

  async function toHealthTarget(subject: HealthSubject): Promise<HealthTarget | undefined> {
    const { id } = subject.relayer
    const { seen, reading } = plans.get(id) ?? {}
    try {
      const { chain, sourceAccounts } = await deps.prepare(subject.relayer)
      plans.set(id, omitUndefined({ seen, reading, dueAt: Number.POSITIVE_INFINITY }))
      const memory = seen?.chain === chain ? seen.memory : NO_MEMORY
      const inTurn = allowances.get(chain)?.inTurn.has(id) ?? false
      return { ...subject, chain, sourceAccounts, memory, inTurn }
    } catch {
      // The relayer registry logs why the relayer cannot act.
      plans.set(id, { dueAt: clock.monotonic() + intervalMs })
      return undefined
    }
  }

  async function check(chain: Chain, targets: readonly HealthTarget[]): Promise<void> {
    let checked: readonly Checked[] = []
    try {
      checked = await deps.checker.check(chain, targets, stopping.signal)
    } catch (error) {
      log.error({ err: error }, 'health check failed; retrying')
    }
    const byId = new Map(checked.map((one) => [one.id, one]))
    const now = clock.monotonic()
    for (const { relayer, memory: before } of targets) {
      const { memory = before, failedChecks = 0, reading } = byId.get(relayer.id) ?? {}
      const dueAt = failedChecks === 0 ? nextInterval(now) : now + untilNextCheck(failedChecks, intervalMs)
      plans.set(relayer.id, omitUndefined({ dueAt, seen: { chain, memory }, reading }))
    }
  }

  async function round(): Promise<void> {
    leads = await lease.hold()
    if (!leads) {
      // The process that has the lease knows the plans. If the lease comes back, everything is checked again.
      plans.clear()
      listAt = Number.NEGATIVE_INFINITY
      return
    }
    const due = await Promise.all((await findDue()).map(toHealthTarget))
    const targets = due.filter((target) => target !== undefined)
    for (const [chain, members] of Map.groupBy(targets, (target) => target.chain)) {
      const checking = check(chain, members)
      running.add(checking)
      void checking.then(() => running.delete(checking))
    }
  }

  const loop = createLoop({ name: 'health', intervalMs: ROUND_MS, clock, log, work: round })
  return {
    ...loop,
    isLeading: () => leads,
    readings: () => [...plans.values()].flatMap(({ reading }) => reading ?? []),
    stop: async () => {
      stopping.abort()
      await loop.stop()
      await Promise.all(running)
      await lease.release()
    },
  }
}

/**
 * Returns the most checks that a round starts: as many as are due in a round when every relayer is checked as
 * often as possible, so that none is late for ever. All are due at the start, and a process that checked
 * thousands at the same time would need the memory for that once, and keep it.
 */
function mostPerRound(relayers: number, intervalMs: number): number {
  const shortestMs = Math.min(intervalMs, untilNextCheck(1, intervalMs))
  return Math.max(LOWEST_LIMIT, Math.ceil((relayers * ROUND_MS) / shortestMs))
}
