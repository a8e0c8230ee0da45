import type { Answer } from './answer.ts'

/** The answer of one endpoint to a simulation. The caller may treat a success as a refusal. */
export interface SimulationOpinion<T> {
  readonly answer: Answer<T>
  /** The endpoint knows no newer block than this one; undefined when it did not tell. */
  readonly head: bigint | undefined
  /** The endpoint has not reached the newest block that any endpoint told of, or did not tell. */
  readonly behind: boolean
}

interface Circumstances {
  /** The endpoint that refused this content first had this head; undefined when nothing is remembered. */
  readonly firstRefusedAt: bigint | undefined
  /** A repeated refusal is final after so many blocks, although other endpoints do not answer. */
  readonly finalAfter: bigint
}

/**
 * A single endpoint that lags by more than the wait ends a transaction wrongly; a longer wait keeps a transaction that can never succeed, and
 * those behind it, waiting.
 */
const ALONE_DIVISOR = 3n

/**
 * Combines the answers of all endpoints to one simulation. The success of an endpoint that is not behind wins: a refusal elsewhere may come
 * from an endpoint that has not seen the newest block. A refusal by the newest endpoint is final when several endpoints exist and all
 * answered, or when that endpoint has come `finalAfter` blocks further since the first refusal. An endpoint that is alone can lag without
 * anybody to tell, so it has to come a third of them further. Until then the refusal is `unanswered`. Pure.
 */
export function evaluateSimulations<T>(
  opinions: readonly SimulationOpinion<T>[],
  { firstRefusedAt, finalAfter }: Circumstances,
): Answer<T> {
  const answered = opinions.filter(isAnswered)
  const success = answered.find(({ answer, behind }) => answer.kind === 'ok' && !behind)
  if (success !== undefined) return success.answer
  const newest = newestOf(answered)
  if (newest === undefined || newest.behind || newest.answer.kind !== 'refused') return undecided(opinions)
  const isAlone = opinions.length === 1
  const wait = isAlone ? finalAfter / ALONE_DIVISOR : finalAfter
  const isRepeated = firstRefusedAt !== undefined && (newest.head ?? 0n) >= firstRefusedAt + wait
  if (isRepeated || (answered.length === opinions.length && !isAlone)) return newest.answer
  return { kind: 'refused', refusal: { ...newest.answer.refusal, unanswered: true } }
}

/** Returns the head at which the newest endpoint refuses; undefined when it does not refuse. */
export function refusedAt(opinions: readonly SimulationOpinion<unknown>[]): bigint | undefined {
  const newest = newestOf(opinions.filter(isAnswered))
  return newest?.answer.kind === 'refused' && !newest.behind ? newest.head : undefined
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
    return { kind: 'unknown', detail: 'no endpoint that answered has the newest block that is known' }
  return { kind: 'unknown', detail: silent.answer.detail }
}
