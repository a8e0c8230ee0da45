import { larger } from '../lib/bigint.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { fingerprintOf } from '../lib/hash.ts'
import type { Clock } from '../lib/time.ts'
import type { Answer, Refusal } from './answer.ts'
import { mostAgreed } from './rpc/agreement.ts'

/** The answer of one endpoint to a simulation. The caller may treat a success as a refusal. */
export interface SimulationOpinion<T> {
  readonly answer: Answer<T>
  /** The newest block that the endpoint knows; undefined if it did not report it. */
  readonly head: bigint | undefined
  /** The endpoint has not reached the newest block reported by any endpoint, or did not report its block. */
  readonly behind: boolean
}

/** A refusal of some content. */
export interface SeenRefusal {
  /** The newest block of the endpoint that refused it. */
  readonly head: bigint
  /** The time of the refusal, in ms of the monotonic clock. */
  readonly at: number
}

interface Circumstances {
  /** Undefined if nothing is remembered. */
  readonly first: SeenRefusal | undefined
  /** The current time, in ms of the monotonic clock. */
  readonly now: number
  /**
   * A repeated refusal is final after this many blocks, and `SETTLE_MS`, although other endpoints do not
   * answer.
   */
  readonly finalAfter: bigint
}

/**
 * Time in ms for which a refusal must last before it is believed without a second endpoint, besides its
 * number of blocks. Networks make up to five blocks a second, and behind one url there can be replicas that
 * lag by seconds: with less time, such a replica ends good transactions; with more, a transaction that can
 * never succeed holds up those behind it.
 */
export const SETTLE_MS = 30_000

/** Returns true if the refusal has lasted for these blocks and `SETTLE_MS`. */
export function hasLasted(
  first: SeenRefusal | undefined,
  { head, now, blocks }: { readonly head: bigint; readonly now: number; readonly blocks: bigint },
): boolean {
  return first !== undefined && head >= first.head + blocks && now >= first.at + SETTLE_MS
}

/**
 * A single endpoint that lags by more than the wait ends a transaction wrongly; a longer wait keeps a
 * transaction that can never succeed, and those behind it, waiting.
 */
const ALONE_DIVISOR = 3n

/**
 * Combines the answers of all endpoints to one simulation. The success of an endpoint that is not behind
 * outweighs the refusal of another one, which may not have seen the newest block, but not the refusals of
 * most.
 *
 * A refusal is final when two endpoints at the newest block give the same reason, when all of several
 * endpoints refuse, or when it has lasted for `finalAfter` blocks. The refusal of a single endpoint, which
 * can lag unnoticed, must last for a third of them. Until then the refusal is `unanswered`. Pure.
 */
export function evaluateSimulations<T>(
  opinions: readonly SimulationOpinion<T>[],
  { first, now, finalAfter }: Circumstances,
): Answer<T> {
  const decisive = decisiveOf(opinions)
  if (decisive?.answer.kind !== 'refused') return decisive?.answer ?? undecided(opinions)
  const { answer, head = 0n } = decisive
  const isAlone = opinions.length === 1
  const answered = opinions.filter(isAnswered)
  const current = answered.filter(({ behind }) => !behind)
  const agreeing = current.filter((one) => codeOf(one) === codeOf(decisive))
  const isUnanimous =
    answered.length === opinions.length && current.every((one) => one.answer.kind === 'refused')
  const isConfirmed = agreeing.length > 1 || (isUnanimous && !isAlone)
  const isRepeated = hasLasted(first, {
    head,
    now,
    blocks: isAlone ? finalAfter / ALONE_DIVISOR : finalAfter,
  })
  return isConfirmed || isRepeated
    ? answer
    : { kind: 'refused', refusal: { ...answer.refusal, unanswered: true } }
}

/**
 * Returns the opinion that counts: a success, or the newest refusal; undefined if no endpoint has the newest
 * block.
 */
function decisiveOf<T>(opinions: readonly SimulationOpinion<T>[]): SimulationOpinion<T> | undefined {
  const answered = opinions.filter(isAnswered)
  const current = answered.filter(({ behind }) => !behind)
  const successes = current.filter(({ answer }) => answer.kind === 'ok')
  const [refusal, ...others] = current.filter(({ answer }) => answer.kind === 'refused')
  const isOutvoted = others.length > 0 && others.length >= successes.length
  if (successes.length > 0 && !isOutvoted) return successes[0]
  if (refusal === undefined) return undefined
  const code = codeOf(mostAgreed([refusal, ...others], (one, other) => codeOf(one) === codeOf(other)))
  return newestOf([refusal, ...others].filter((one) => codeOf(one) === code))
}

function codeOf({ answer }: SimulationOpinion<unknown>): Refusal['code'] | undefined {
  return answer.kind === 'refused' ? answer.refusal.code : undefined
}

/** An answer without a height cannot be compared with the others. */
function isAnswered({ answer, head }: SimulationOpinion<unknown>): boolean {
  return answer.kind !== 'unknown' && head !== undefined
}

function newestOf<T>(opinions: readonly SimulationOpinion<T>[]): SimulationOpinion<T> | undefined {
  return opinions.reduce<SimulationOpinion<T> | undefined>(
    (newest, one) => (newest === undefined || (one.head ?? 0n) > (newest.head ?? 0n) ? one : newest),
    undefined,
  )
}

function undecided(opinions: readonly SimulationOpinion<unknown>[]): Answer<never> {
  const silent = opinions.find(({ answer }) => answer.kind === 'unknown')
  if (opinions.some(isAnswered) || silent?.answer.kind !== 'unknown')
    return { kind: 'unknown', detail: 'no endpoint that answered has the newest known block' }
  return { kind: 'unknown', detail: silent.answer.detail }
}

/**
 * Remembers in memory which content simulations refused lately. A new process starts without that memory and
 * waits again.
 */
export interface SimulationRefusals {
  /**
   * Combines the answers of all endpoints to a simulation of this content, in view of earlier refusals of the
   * same content.
   */
  settle<T>(content: unknown, opinions: readonly SimulationOpinion<T>[]): Answer<T>
}

/** The memory holds at most this many contents and forgets the oldest first. */
const MAX_REMEMBERED = 1_000

/**
 * A refusal that comes later than this many times `finalAfter`, and `SETTLE_MS`, after the last one starts
 * again: the state has since changed, and the first refusal says nothing about it. A waiting transaction is
 * simulated every few seconds.
 */
const OCCASION_FACTOR = 4

interface Occasion {
  readonly first: SeenRefusal
  /** The newest block of the last refusal, and its time in ms of the monotonic clock. */
  readonly last: SeenRefusal
}

/**
 * Creates an empty memory. A refusal that lasts for `finalAfter` blocks is final, although other endpoints do
 * not answer.
 */
export function createSimulationRefusals(
  finalAfter: bigint,
  clock: Pick<Clock, 'monotonic'>,
): SimulationRefusals {
  const occasions = new BoundedMap<string, Occasion>(MAX_REMEMBERED)
  return {
    settle(content, opinions) {
      const key = fingerprintOf(content)
      const now = clock.monotonic()
      const decisive = decisiveOf(opinions)
      const head = decisive?.answer.kind === 'refused' ? decisive.head : undefined
      const occasion = continued(occasions.get(key), { head, now, finalAfter })
      const answer = evaluateSimulations(opinions, { first: occasion?.first, now, finalAfter })
      if (answer.kind === 'ok') occasions.delete(key)
      if (answer.kind === 'refused' && occasion !== undefined) occasions.set(key, occasion)
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

/**
 * These refusals depend on the state of the newest block and would end a transaction. Missing funds only make
 * it wait.
 */
const DEPENDS_ON_STATE: readonly Refusal['code'][] = ['execution_reverted', 'fee_payer_at_risk']

/**
 * Returns true for a refusal that would end a transaction although an endpoint with a newer block may answer
 * otherwise.
 */
export function dependsOnState({ code }: Refusal): boolean {
  return DEPENDS_ON_STATE.includes(code)
}
