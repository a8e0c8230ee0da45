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

/** The lowest limit of the checks that one round starts. With a lower one, the first checks of some hundred relayers would take longer for no memory. */
const LOWEST_LIMIT = 250

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

/** The loop, and the numbers of its last checks. */
export interface HealthWorker extends Loop {
  /** Returns nothing in processes without the lease, so that no process shows old numbers beside the new ones of another. */
  readings(): HealthReading[]
  /** Returns true while this process has the lease. */
  isLeading(): boolean
}

/**
 * Checks every relayer, including paused ones, in one process at a time: at the start, at intervals while it is enabled, and more often
 * after it was disabled. Chains are checked in parallel, and none waits for another.
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
  let listAt = Number.NEGATIVE_INFINITY
  let leads = false

  /** Picks up new and removed relayers. A new one is due immediately. */
  async function listRelayers(now: number): Promise<void> {
    listAt = now + intervalMs
    const present = new Set(await listIds(db))
    for (const id of [...plans.keys()].filter((known) => !present.has(known))) plans.delete(id)
    for (const id of present) if (!plans.has(id)) plans.set(id, { dueAt: now })
  }

  /** Finds the due relayers. It reads the database only when a check is due or relayers may be new. */
  async function findDue(): Promise<HealthSubject[]> {
    const now = clock.monotonic()
    if (now >= listAt) await listRelayers(now)
    const due: string[] = []
    const most = mostPerRound(plans.size, intervalMs)
    for (const [id, { dueAt }] of plans) if (dueAt <= now && due.push(id) >= most) break
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
      return { ...subject, chain, sourceAccounts, memory: seen?.chain === chain ? seen.memory : NO_MEMORY }
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
    for (const [index, { relayer, memory: before }] of targets.entries()) {
      const { memory = before, failedChecks = 0, reading } = byId.get(relayer.id) ?? {}
      const isFirst = plans.get(relayer.id)?.seen === undefined
      const waitMs = untilNextCheck(failedChecks, intervalMs)
      // Relayers that were checked together for the first time are spread over the time until the next checks.
      const dueAt = clock.monotonic() + (isFirst ? waitMs * (1 - index / targets.length) : waitMs)
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
 * Returns the most checks that a round starts: as many as are due in a round when every relayer is checked as often as possible, so that none
 * is late for ever. All are due at the start, and a process that checked thousands at the same time would need the memory for that once, and
 * keep it.
 */
function mostPerRound(relayers: number, intervalMs: number): number {
  const shortestMs = Math.min(intervalMs, untilNextCheck(1, intervalMs))
  return Math.max(LOWEST_LIMIT, Math.ceil((relayers * ROUND_MS) / shortestMs))
}
