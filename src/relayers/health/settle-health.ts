import { isDeepStrictEqual } from 'node:util'
import { sharesAccount } from '../policy.ts'
import type { Relayer } from '../relayer.ts'
import { setSystemDisabled } from '../store.ts'
import { type HealthEvaluation, type HealthStep, nextStep } from './health.ts'
import { lockForHealth } from './health-store.ts'
import type { HealthCheckerDeps, HealthTarget } from './health-target.ts'

/**
 * Writes the result of a check, and logs it. Never rejects: a failure for one relayer does not affect the others, and the next check
 * repeats the finding.
 */
export async function settleHealth(
  deps: HealthCheckerDeps,
  target: HealthTarget,
  evaluation: HealthEvaluation,
): Promise<void> {
  const { id } = target.relayer
  try {
    const step = await decideAgain(deps, target, evaluation)
    if (step.kind === 'disable') deps.log.warn({ relayer: id, reason: step.reason }, 'relayer disabled')
    if (step.kind === 'enable') deps.log.info({ relayer: id }, 'relayer enabled')
  } catch (error) {
    deps.log.error({ err: error, relayer: id }, 'relayer check could not be stored')
  }
}

/**
 * Decides under a lock on the relayer as it is now: of two processes with the same finding, one writes and records the event. A finding
 * about a relayer that has changed since then does not count.
 */
async function decideAgain(
  { db, prepare }: HealthCheckerDeps,
  { relayer, chain }: HealthTarget,
  evaluation: HealthEvaluation,
): Promise<HealthStep> {
  // A caller has changed the urls of its network.
  if ((await prepare(relayer)).chain !== chain) return NOTHING
  return db.transaction().execute(async (tx) => {
    const present = await lockForHealth(tx, relayer.id)
    if (present === undefined || !isDeepStrictEqual(tested(present), tested(relayer))) return NOTHING
    const step = nextStep(present, evaluation)
    if (step.kind === 'disable') await setSystemDisabled(tx, relayer.id, step.reason)
    if (step.kind === 'enable') await setSystemDisabled(tx, relayer.id, null)
    return step
  })
}

const NOTHING: HealthStep = { kind: 'none' }

/** Returns the fields of a relayer that a check depends on. */
function tested(relayer: Relayer) {
  const { networkType, network, address, signerId, customRpcUrls, policies } = relayer
  const { minBalance } = policies
  return {
    networkType,
    network,
    address,
    signerId,
    customRpcUrls,
    minBalance,
    shared: sharesAccount(relayer),
  }
}
