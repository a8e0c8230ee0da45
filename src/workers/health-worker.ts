import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Chain, Line } from '../chains/chain.ts'
import type { Clock } from '../clock.ts'
import type { Schema } from '../database/schema.ts'
import type { Checked, HealthChecker, Patient } from '../relayers/check-health.ts'
import { type HealthMemory, NO_MEMORY, untilNextCheck } from '../relayers/health.ts'
import { type HealthSubject, listSubjects } from '../relayers/health-store.ts'
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
  /** Names this process in leases. */
  readonly owner: string
  readonly checker: HealthChecker
  /** Where a relayer acts now; throws when it cannot act. */
  readonly prepare: (relayer: Relayer) => Promise<{ readonly chain: Chain; readonly lines: readonly Line[] }>
  /** Between two checks of an enabled relayer, in ms. */
  readonly intervalMs: number
}

interface Plan {
  /** In ms since the epoch; never while its check is under way. */
  readonly dueAt: number
  readonly memory: HealthMemory
}

/**
 * Checks every relayer again and again, paused ones too, in one process at a time: at the start, at intervals while enabled, sooner
 * after it was disabled. Chains are asked side by side, and none waits for another.
 */
export function createHealthWorker(deps: HealthWorkerDeps): Loop {
  const { db, clock, log, owner, checker, prepare, intervalMs } = deps
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

  const memoryOf = (id: string) => plans.get(id)?.memory ?? NO_MEMORY

  async function toPatient(subject: HealthSubject): Promise<Patient | undefined> {
    try {
      const { chain, lines } = await prepare(subject.relayer)
      return { ...subject, chain, lines, memory: memoryOf(subject.relayer.id) }
    } catch {
      // Whoever follows the relayers says why it cannot act.
      return undefined
    }
  }

  /** Those that are due, and a look at the database only when somebody is, or might be new. */
  async function findDue(): Promise<HealthSubject[]> {
    const now = clock.now()
    if (now < lookAt && ![...plans.values()].some(({ dueAt }) => dueAt <= now)) return []
    lookAt = now + intervalMs
    const subjects = await listSubjects(db)
    const present = new Set(subjects.map(({ relayer }) => relayer.id))
    for (const id of [...plans.keys()].filter((known) => !present.has(known))) plans.delete(id)
    return subjects.filter(({ relayer }) => (plans.get(relayer.id)?.dueAt ?? now) <= now)
  }

  async function check(chain: Chain, patients: readonly Patient[]): Promise<void> {
    let checked: readonly Checked[] = []
    try {
      checked = await checker.check(chain, patients, stopping.signal)
    } catch (error) {
      log.error({ err: error }, 'relayers could not be checked; they are tried again')
    }
    for (const { relayer } of patients) {
      const { memory, failedChecks } = checked.find(({ id }) => id === relayer.id) ?? {
        memory: memoryOf(relayer.id),
        failedChecks: 0,
      }
      plans.set(relayer.id, { memory, dueAt: clock.now() + untilNextCheck(failedChecks, intervalMs) })
    }
  }

  const loop = createLoop({
    name: 'health',
    intervalMs: ROUND_MS,
    clock,
    log,
    work: async () => {
      if (!(await lease.ask())) {
        // Whoever has it remembers better; should it come back, everything is looked at anew.
        plans.clear()
        lookAt = Number.NEGATIVE_INFINITY
        return
      }
      const due = await findDue()
      for (const { relayer } of due)
        plans.set(relayer.id, { memory: memoryOf(relayer.id), dueAt: Number.POSITIVE_INFINITY })
      const patients = (await Promise.all(due.map(toPatient))).filter((patient) => patient !== undefined)
      for (const { relayer } of due.filter(
        ({ relayer: { id } }) => !patients.some((one) => one.relayer.id === id),
      ))
        plans.set(relayer.id, { memory: NO_MEMORY, dueAt: clock.now() + intervalMs })
      for (const [chain, members] of Map.groupBy(patients, (patient) => patient.chain)) {
        const checking = check(chain, members)
        running.add(checking)
        void checking.then(() => running.delete(checking))
      }
    },
  })
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
