import type { Chain } from '../../chains/chain.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Relayer } from '../relayer.ts'
import { findRelayer } from '../store.ts'
import { askHealth, nothingHeard } from './ask-health.ts'
import { evaluateHealth, type HealthMemory, type HealthStep, NO_MEMORY, nextStep } from './health.ts'
import { countFailedChecks, findSubjects } from './health-store.ts'
import type { HealthCheckerDeps, HealthTarget } from './health-target.ts'
import { type HealthReading, readingOf } from './reading.ts'
import { settleHealth } from './settle-health.ts'

/** A check without an answer by then counts as silence, in ms: far more than a node needs on the slowest chain. */
const LONGEST_MS = 60_000

/** A caller who changes a relayer waits for its check for at most this long, in ms. */
const MAX_CALLER_WAIT_MS = 5_000

/** The outcome of a check. */
export interface Checked {
  readonly id: string
  readonly memory: HealthMemory
  /** The number of checks that failed in a row, this one included; 0 for an enabled relayer. */
  readonly failedChecks: number
  readonly reading: HealthReading
}

/** Checks relayers, and disables and enables them. */
export interface HealthChecker {
  /** Checks relayers of one chain. An aborted check writes nothing and returns nothing. */
  check(chain: Chain, targets: readonly HealthTarget[], signal: AbortSignal): Promise<Checked[]>
  /**
   * Checks a relayer that a caller has just created or changed, for 5 s at most, and returns it as it is then. Never rejects: the next
   * check repeats a failed one.
   */
  checkNow(relayer: Relayer): Promise<Relayer>
}

/** Creates the checker of this database's relayers. */
export function createHealthChecker(deps: HealthCheckerDeps): HealthChecker {
  return {
    check: (chain, targets, signal) => check(deps, targets, { chain, signal, timeoutMs: LONGEST_MS }),
    checkNow: async (relayer) => {
      try {
        return (await checkOne(deps, relayer.id)) ?? relayer
      } catch (error) {
        deps.log.error({ err: error, relayer: relayer.id }, 'relayer check failed; retrying')
        return relayer
      }
    },
  }
}

/** Returns the relayer after the check; undefined when it is gone. */
async function checkOne(deps: HealthCheckerDeps, id: string): Promise<Relayer | undefined> {
  const [subject] = await findSubjects(deps.db, [id])
  if (subject === undefined) return undefined
  const { chain, sourceAccounts } = await deps.prepare(subject.relayer)
  const target = { ...subject, chain, sourceAccounts, memory: NO_MEMORY }
  await check(deps, [target], { chain, timeoutMs: MAX_CALLER_WAIT_MS })
  return findRelayer(deps.db, id)
}

interface Occasion {
  readonly chain: Chain
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

async function check(
  deps: HealthCheckerDeps,
  targets: readonly HealthTarget[],
  { chain, timeoutMs, signal }: Occasion,
): Promise<Checked[]> {
  const heard = await waitWithin(deps.clock, askHealth(chain, targets, deps), {
    ms: timeoutMs,
    signal,
  })
  if (signal?.aborted) return []
  const decided = targets.map((target, index) => {
    const subject = { relayer: target.relayer, unit: chain.unit, now: deps.clock.now() }
    const facts = heard?.[index] ?? nothingHeard(chain)
    const evaluated = evaluateHealth(subject, facts, target.memory)
    const reading = readingOf(target, facts, chain.unit)
    return { target, ...evaluated, reading, step: nextStep(target.relayer, evaluated.evaluation) }
  })
  await countFailedChecks(
    deps.db,
    decided.flatMap(({ target: { relayer }, step }) =>
      step.kind === 'remain' ? { id: relayer.id, ...(step.reason && { reason: step.reason }) } : [],
    ),
  )
  for (const { target, evaluation, step } of decided)
    if (step.kind === 'disable' || step.kind === 'enable') await settleHealth(deps, target, evaluation)
  return decided.map(({ target, memory, reading, step }) => ({
    id: target.relayer.id,
    memory,
    reading,
    failedChecks: failuresAfter(target, step),
  }))
}

function failuresAfter({ relayer, failedChecks }: HealthTarget, { kind }: HealthStep): number {
  if (kind === 'none' || kind === 'enable') return 0
  return relayer.systemDisabled ? failedChecks + 1 : 1
}

/** Returns undefined when the answer takes too long, or the check is aborted. */
async function waitWithin<T>(
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
