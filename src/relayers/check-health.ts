import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Chain, Line } from '../chains/chain.ts'
import type { Clock } from '../clock.ts'
import type { Schema } from '../database/schema.ts'
import { askHealth, nothingHeard } from './ask-health.ts'
import {
  type HealthMemory,
  type HealthStep,
  type HealthVerdict,
  judgeHealth,
  NO_MEMORY,
  nextStep,
} from './health.ts'
import {
  countFailedChecks,
  type FailedAgain,
  type HealthSubject,
  listSubjects,
  lockForHealth,
} from './health-store.ts'
import type { Relayer } from './relayer.ts'
import { findRelayer, setSystemDisabled } from './store.ts'

/** Without an answer by then a check counts as one that heard nothing, in ms: far more than a node needs, on the slowest chain. */
const LONGEST_MS = 60_000

/** How long a caller who changed a relayer waits for its check, in ms. */
const CALLERS_PATIENCE_MS = 5_000

/** A relayer that is checked, and where. */
export interface Patient extends HealthSubject {
  readonly chain: Chain
  /** The accounts that it takes nonces of now. */
  readonly lines: readonly Line[]
  /** From its last check. */
  readonly memory: HealthMemory
}

/** What came of a check. */
export interface Checked {
  readonly id: string
  readonly memory: HealthMemory
  /** Checks that failed in a row, this one among them; 0 for a relayer that is enabled. */
  readonly failedChecks: number
}

/** Looks at relayers, and switches them off and on. */
export interface HealthChecker {
  /** All of these are of one chain. An aborted check writes nothing and gives nothing. */
  check(chain: Chain, patients: readonly Patient[], signal: AbortSignal): Promise<Checked[]>
  /**
   * Looks at once at a relayer that was just created or changed, for 5 s at most, and gives it as it is then. Never rejects: what
   * cannot be found out now is found out by the next check.
   */
  checkNow(relayer: Relayer): Promise<Relayer>
}

interface HealthCheckerDeps {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly log: Logger
  /** Where a relayer acts now, and with which accounts. */
  readonly prepare: (relayer: Relayer) => Promise<Pick<Patient, 'chain' | 'lines'>>
}

export function createHealthChecker(deps: HealthCheckerDeps): HealthChecker {
  const { db, clock, log, prepare } = deps

  async function check(
    chain: Chain,
    patients: readonly Patient[],
    { signal, patienceMs }: { readonly signal?: AbortSignal; readonly patienceMs: number },
  ): Promise<Checked[]> {
    const heard = await inTime(clock, askHealth(chain, patients), { ms: patienceMs, signal })
    if (signal?.aborted) return []
    const judged = patients.map((patient, index) => ({
      patient,
      ...judgeHealth(
        { relayer: patient.relayer, unit: chain.traits.unit, now: clock.now() },
        heard?.[index] ?? nothingHeard(chain),
        patient.memory,
      ),
    }))
    const decided = judged.map((one) => ({ ...one, step: nextStep(one.patient.relayer, one.verdict) }))
    await countFailedChecks(db, decided.flatMap(failedAgain))
    for (const { patient, verdict, step } of decided)
      if (step.kind === 'disable' || step.kind === 'enable') await settleAlone(deps, patient, verdict)
    return decided.map(({ patient, memory, step }) => ({
      id: patient.relayer.id,
      memory,
      failedChecks: failuresAfter(patient, step),
    }))
  }

  return {
    check: (chain, patients, signal) => check(chain, patients, { signal, patienceMs: LONGEST_MS }),
    checkNow: async (relayer) => {
      try {
        const [subject] = await listSubjects(db, relayer.id)
        if (subject === undefined) return relayer
        const { chain, lines } = await prepare(subject.relayer)
        await check(chain, [{ ...subject, chain, lines, memory: NO_MEMORY }], {
          patienceMs: CALLERS_PATIENCE_MS,
        })
        return (await findRelayer(db, relayer.id)) ?? relayer
      } catch (error) {
        log.error({ err: error, relayer: relayer.id }, 'a relayer could not be checked; it is tried again')
        return relayer
      }
    },
  }
}

function failedAgain({
  patient,
  step,
}: {
  readonly patient: Patient
  readonly step: HealthStep
}): FailedAgain[] {
  if (step.kind !== 'remain') return []
  return [{ id: patient.relayer.id, ...(step.reason && { reason: step.reason }) }]
}

function failuresAfter({ relayer, failedChecks }: Patient, { kind }: HealthStep): number {
  if (kind === 'none' || kind === 'enable') return 0
  return relayer.systemDisabled ? failedChecks + 1 : 1
}

/** What cannot be written for one relayer keeps no other from its own. */
async function settleAlone(deps: HealthCheckerDeps, patient: Patient, verdict: HealthVerdict): Promise<void> {
  try {
    await settle(deps, patient, verdict)
  } catch (error) {
    deps.log.error(
      { err: error, relayer: patient.relayer.id },
      'what a check found could not be stored; the next one finds it again',
    )
  }
}

/**
 * Decides once more on the relayer as it is now, and nobody else decides meanwhile: of two processes that found the same, one
 * writes and tells. What was found about a relayer that has been changed since then says nothing about it.
 */
async function settle({ db, log, prepare }: HealthCheckerDeps, patient: Patient, verdict: HealthVerdict) {
  const { id } = patient.relayer
  if ((await prepare(patient.relayer)).chain !== patient.chain) return
  const step = await db.transaction().execute(async (tx): Promise<HealthStep> => {
    const present = await lockForHealth(tx, id)
    if (present === undefined || !isDeepStrictEqual(tested(present), tested(patient.relayer))) return NOTHING
    const decided = nextStep(present, verdict)
    if (decided.kind === 'disable') await setSystemDisabled(tx, id, decided.reason)
    if (decided.kind === 'enable') await setSystemDisabled(tx, id, null)
    return decided
  })
  if (step.kind === 'disable') log.warn({ relayer: id, reason: step.reason }, 'relayer disabled')
  if (step.kind === 'enable') log.info({ relayer: id }, 'relayer enabled')
}

const NOTHING: HealthStep = { kind: 'none' }

/** Everything of a relayer that a check goes by. */
function tested({ networkType, network, address, customRpcUrls, policies }: Relayer) {
  return { networkType, network, address, customRpcUrls, minBalance: policies.minBalance }
}

/** Undefined when the answer takes too long, or is of no use any more. */
async function inTime<T>(
  clock: Clock,
  answer: Promise<T>,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal | undefined },
): Promise<T | undefined> {
  const over = new AbortController()
  const late = clock.sleep(ms, signal ? AbortSignal.any([signal, over.signal]) : over.signal)
  try {
    return await Promise.race([answer, late.then(() => undefined)])
  } finally {
    over.abort()
  }
}
