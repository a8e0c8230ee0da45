import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Chain } from '../chains/chain.ts'
import type { Schema } from '../database/schema.ts'
import type { Clock } from '../lib/clock.ts'
import type { Checked, HealthChecker } from '../relayers/health/check-health.ts'
import { type HealthMemory, NO_MEMORY, untilNextCheck } from '../relayers/health/health.ts'
import { type HealthSubject, listSubjects } from '../relayers/health/health-store.ts'
import type { HealthTarget } from '../relayers/health/health-target.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { createLeaseHolder } from './lease-holder.ts'
import { createLoop, type Loop } from './loop.ts'

/** How often the loop asks itself whether a check is due, in ms. It costs nothing while none is. */
const ROUND_MS = 1_000

/** How long one process checks without asking for the lease again, in ms. Two that check at once only ask twice. */
const LEASE_MS = 15_000

/** How often a process without the lease asks for it, in ms. */
const STANDBY_MS = 5_000

interface HealthWorkerDeps {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly log: Logger
  /** Identifies this process in leases. */
  readonly owner: string
  readonly checker: HealthChecker
  /** Where a relayer acts now; throws when it cannot act. */
  readonly prepare: (relayer: Relayer) => Promise<Pick<HealthTarget, 'chain' | 'sourceAccounts'>>
  /** Between two checks of an enabled relayer, in ms. */
  readonly intervalMs: number
}

interface Plan {
  /** In ms since the epoch; never while its check is under way. */
  readonly dueAt: number
  /** Of the last check; what was found on one chain says nothing about another. */
  readonly seen?: { readonly chain: Chain; readonly memory: HealthMemory }
}

/**
 * Checks every relayer again and again, paused ones too, in one process at a time: at the start, at intervals while enabled, sooner
 * after it was disabled. Chains are asked side by side, and none waits for another.
 */
export function createHealthWorker(deps: HealthWorkerDeps): Loop {
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
  let lookAt = Number.NEGATIVE_INFINITY

  /** Those that are due. Looks at the database only when somebody is, or might be new. */
  async function findDue(): Promise<HealthSubject[]> {
    const now = clock.now()
    if (now < lookAt && ![...plans.values()].some(({ dueAt }) => dueAt <= now)) return []
    lookAt = now + intervalMs
    const subjects = await listSubjects(db)
    const present = new Set(subjects.map(({ relayer }) => relayer.id))
    for (const id of [...plans.keys()].filter((known) => !present.has(known))) plans.delete(id)
    return subjects.filter(({ relayer }) => (plans.get(relayer.id)?.dueAt ?? now) <= now)
  }

  async function toHealthTarget(subject: HealthSubject): Promise<HealthTarget | undefined> {
    const { id } = subject.relayer
    const seen = plans.get(id)?.seen
    try {
      const { chain, sourceAccounts } = await deps.prepare(subject.relayer)
      plans.set(id, { ...(seen && { seen }), dueAt: Number.POSITIVE_INFINITY })
      return { ...subject, chain, sourceAccounts, memory: seen?.chain === chain ? seen.memory : NO_MEMORY }
    } catch {
      // Whoever follows the relayers says why it cannot act.
      plans.set(id, { dueAt: clock.now() + intervalMs })
      return undefined
    }
  }

  async function check(chain: Chain, targets: readonly HealthTarget[]): Promise<void> {
    let checked: readonly Checked[] = []
    try {
      checked = await deps.checker.check(chain, targets, stopping.signal)
    } catch (error) {
      log.error({ err: error }, 'relayers could not be checked; they are tried again')
    }
    for (const { relayer, memory: before } of targets) {
      const { memory = before, failedChecks = 0 } = checked.find(({ id }) => id === relayer.id) ?? {}
      const dueAt = clock.now() + untilNextCheck(failedChecks, intervalMs)
      plans.set(relayer.id, { dueAt, seen: { chain, memory } })
    }
  }

  async function round(): Promise<void> {
    if (!(await lease.ask())) {
      // Whoever has it remembers better; should it come back, everything is looked at anew.
      plans.clear()
      lookAt = Number.NEGATIVE_INFINITY
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
    stop: async () => {
      stopping.abort()
      await loop.stop()
      await Promise.all(running)
      await lease.giveUp()
    },
  }
}
