import { larger } from '../lib/bigint.ts'
import { fingerprintOf } from '../lib/fingerprint.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Answer, Refusal } from './answer.ts'
import {
  evaluateSimulations,
  refusedAt,
  SETTLE_MS,
  type SeenRefusal,
  type SimulationOpinion,
} from './simulation-opinions.ts'

/** Remembers in memory which content simulations refused lately. A new process starts without that memory and waits again. */
export interface SimulationRefusals {
  /** Combines the answers of all endpoints to a simulation of this content, in view of earlier refusals of the same content. */
  settle<T>(content: unknown, opinions: readonly SimulationOpinion<T>[]): Answer<T>
}

/** The memory holds at most this many contents and forgets the oldest first. */
const MAX_REMEMBERED = 1_000

/**
 * A refusal that comes later than this many times `finalAfter`, and `SETTLE_MS`, after the last one starts anew: the state has changed in
 * between, and the first refusal says nothing about it. A waiting transaction is simulated every few seconds.
 */
const OCCASION_FACTOR = 4

interface Occasion {
  readonly first: SeenRefusal
  /** The newest block of the last refusal, and its time in ms of the monotonic clock. */
  readonly last: SeenRefusal
}

/** Creates an empty memory. A refusal that lasts for `finalAfter` blocks is final, although other endpoints do not answer. */
export function createSimulationRefusals(
  finalAfter: bigint,
  clock: Pick<Clock, 'monotonic'>,
): SimulationRefusals {
  const occasions = new Map<string, Occasion>()
  return {
    settle(content, opinions) {
      const key = fingerprintOf(content)
      const now = clock.monotonic()
      const occasion = continued(occasions.get(key), { head: refusedAt(opinions), now, finalAfter })
      const answer = evaluateSimulations(opinions, { first: occasion?.first, now, finalAfter })
      if (answer.kind === 'ok') occasions.delete(key)
      if (answer.kind === 'refused' && occasion !== undefined) remember(occasions, key, occasion)
      return answer
    },
  }
}

function continued(
  before: Occasion | undefined,
  { head, now, finalAfter }: { head: bigint | undefined; now: number; finalAfter: bigint },
): Occasion | undefined {
  if (head === undefined) return undefined
  const refusal = { head, at: now }
  if (before === undefined) return { first: refusal, last: refusal }
  const { first, last } = before
  const isSame =
    head - last.head <= finalAfter * BigInt(OCCASION_FACTOR) || now - last.at <= SETTLE_MS * OCCASION_FACTOR
  return isSame
    ? { first, last: { head: larger(last.head, head), at: now } }
    : { first: refusal, last: refusal }
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
