import { larger } from '../lib/bigint.ts'
import { fingerprintOf } from '../lib/fingerprint.ts'
import type { Answer, Refusal } from './answer.ts'
import { evaluateSimulations, refusedAt, type SimulationOpinion } from './simulation-opinions.ts'

/** Remembers in memory which content simulations refused lately. A new process starts without that memory and waits again. */
export interface SimulationRefusals {
  /** Combines the answers of all endpoints to a simulation of this content, in view of earlier refusals of the same content. */
  settle<T>(content: unknown, opinions: readonly SimulationOpinion<T>[]): Answer<T>
}

/** The memory holds at most this many contents and forgets the oldest first. */
const MAX_REMEMBERED = 1_000

/**
 * A refusal that comes later than this many times `finalAfter` after the last one starts anew: the state has changed in between, and the
 * first refusal says nothing about it. A waiting transaction is simulated every few seconds.
 */
const OCCASION_FACTOR = 4n

interface Occasion {
  readonly first: bigint
  readonly last: bigint
}

/** Creates an empty memory. A repeated refusal is final after `finalAfter` blocks, although other endpoints do not answer. */
export function createSimulationRefusals(finalAfter: bigint): SimulationRefusals {
  const occasions = new Map<string, Occasion>()
  return {
    settle(content, opinions) {
      const key = fingerprintOf(content)
      const occasion = continued(occasions.get(key), refusedAt(opinions), finalAfter)
      const answer = evaluateSimulations(opinions, { firstRefusedAt: occasion?.first, finalAfter })
      if (answer.kind === 'ok') occasions.delete(key)
      if (answer.kind === 'refused' && occasion !== undefined) remember(occasions, key, occasion)
      return answer
    },
  }
}

function continued(
  before: Occasion | undefined,
  head: bigint | undefined,
  finalAfter: bigint,
): Occasion | undefined {
  if (head === undefined) return undefined
  const isSame = before !== undefined && head - before.last <= finalAfter * OCCASION_FACTOR
  return isSame ? { first: before.first, last: larger(before.last, head) } : { first: head, last: head }
}

function remember(occasions: Map<string, Occasion>, key: string, occasion: Occasion): void {
  occasions.delete(key)
  occasions.set(key, occasion)
  const [oldest] = occasions.keys()
  if (occasions.size > MAX_REMEMBERED && oldest !== undefined) occasions.delete(oldest)
}

/** These refusals depend on the state of the newest block and would end a transaction. Missing funds only make it wait. */
const DEPENDS_ON_STATE: readonly Refusal['code'][] = ['execution_reverted', 'fee_payer_at_risk']

/** Returns true for a refusal that would end a transaction although an endpoint with a newer block may answer otherwise. */
export function dependsOnState({ code }: Refusal): boolean {
  return DEPENDS_ON_STATE.includes(code)
}
