import { isDeepStrictEqual } from 'node:util'
import type { Relayer } from '../relayer.ts'
import { setSystemDisabled } from '../store.ts'
import { type HealthEvaluation, type HealthStep, nextStep } from './health.ts'
import { lockForHealth } from './health-store.ts'
import type { HealthCheckerDeps, HealthTarget } from './health-target.ts'

/**
 * Writes what a check found, and tells it. Never rejects: what cannot be written for one relayer keeps no other from its own, and the
 * next check finds it again.
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
    deps.log.error({ err: error, relayer: id }, 'what a check found could not be stored')
  }
}

/**
 * Decides on the relayer as it is now, and nobody else decides meanwhile: of two processes that found the same, one writes and tells.
 * What was found about a relayer that has been changed since then says nothing about it.
 */
async function decideAgain(
  { db, prepare }: HealthCheckerDeps,
  { relayer, chain }: HealthTarget,
  evaluation: HealthEvaluation,
): Promise<HealthStep> {
  // Somebody gave its network other urls.
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

/** Everything of a relayer that a check goes by. */
function tested({ networkType, network, address, customRpcUrls, policies }: Relayer) {
  return { networkType, network, address, customRpcUrls, minBalance: policies.minBalance }
}
