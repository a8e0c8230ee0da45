import { smaller } from '../../../lib/bigint.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { BroadcastResult } from '../../answer.ts'
import { markUnanswered } from '../../rpc/refusals.ts'
import { hasLasted, type SeenRefusal } from '../../simulations.ts'

/** The answer of one endpoint to signed bytes. */
export interface Opinion {
  readonly result: BroadcastResult
  /** The newest block that the endpoint reported. */
  readonly head: bigint | undefined
  /** It has not reached the newest block that any endpoint reported. */
  readonly behind: boolean
}

interface Circumstances {
  /** The first refusal of these bytes, while it is remembered. */
  readonly first: SeenRefusal | undefined
  /** The current time, in ms of the monotonic clock. */
  readonly now: number
  /** The number of endpoints of the network. */
  readonly endpoints: number
}

/**
 * Answers that outweigh a refusal, the strongest first: an endpoint has the bytes, or knows more about the
 * nonce.
 */
const BETTER: readonly BroadcastResult['kind'][] = ['accepted', 'nonce_used']

/**
 * Answers that demand another price for the same nonce. Where three endpoints answer, one of them alone
 * demands nothing.
 */
const CURABLE: readonly BroadcastResult['kind'][] = ['too_cheap', 'too_dear']

/** Answers that end a transaction, or its nonce. */
const FINAL: readonly BroadcastResult['kind'][] = ['refused', 'gas_limit']

/**
 * Answers of an endpoint that does not take the bytes, and that do not contradict the refusal of another one.
 */
const NO_CONTRADICTION: readonly BroadcastResult['kind'][] = [...FINAL, 'unclear']

/**
 * A refusal by the only endpoint counts as a second opinion when it has lasted for this many blocks, and
 * `SETTLE_MS`.
 */
const FINAL_AFTER_BLOCKS_IF_ALONE = 1n

/**
 * The same limit where other endpoints exist and none answers: a node that left the chain continues for a
 * while, and a resting endpoint comes back within this number of blocks on most networks.
 */
export const FINAL_AFTER_BLOCKS_IF_OTHERS_SILENT = 32n

/**
 * Combines the answers of several endpoints. A refusal is final only with a second opinion at the head: from
 * another endpoint, or from the same one when its refusal has lasted. Before that, and from an endpoint that
 * is behind, it means later: "not yet in Shanghai" and last year's block gas limit are refusals, too. A
 * refusal in unknown wording counts only while no other endpoint has a known reply for the same bytes. Pure.
 */
export function evaluateOpinions(
  opinions: readonly Opinion[],
  circumstances: Circumstances,
): BroadcastResult {
  const results = opinions.map(({ result }) => result)
  const better = BETTER.map((kind) => results.find((one) => one.kind === kind)).find(
    (one) => one !== undefined,
  )
  if (better) return better
  const current = opinions.filter(({ behind }) => !behind)
  const demands = current.filter(({ result }) => CURABLE.includes(result.kind))
  const isOutvoted = demands.length === 1 && current.filter(isAnswer).length > 2
  const curable =
    opinions.find(({ result }) => result.kind === 'underpriced') ?? (isOutvoted ? undefined : demands[0])
  const unanswered = opinions.length < circumstances.endpoints || opinions.some((one) => !isAnswer(one))
  if (curable) return markUnanswered(curable.result, unanswered)
  const refusals = current.filter(({ result }) => FINAL.includes(result.kind))
  const refusal = refusals.find(({ result }) => result.kind === 'gas_limit') ?? refusals[0]
  if (refusal !== undefined && (refusals.length > 1 || isRepeated(refusal, opinions, circumstances)))
    return markUnanswered(refusal.result, unanswered)
  const unclear = current.find(({ result }) => result.kind === 'unclear')
  const hasKnownWords = current.some(({ result }) => result.kind === 'later')
  if (unclear && !hasKnownWords) return markUnanswered(unclear.result, unanswered)
  return { kind: 'later', detail: doubtOf(results) }
}

/** The same endpoint refused again at a later block, and no endpoint contradicts it. */
function isRepeated(
  { head }: Opinion,
  opinions: readonly Opinion[],
  { first, now, endpoints }: Circumstances,
): boolean {
  const others = opinions.filter(({ behind, result }) => !behind && !NO_CONTRADICTION.includes(result.kind))
  if (head === undefined || others.some(isAnswer)) return false
  return hasLasted(first, {
    head,
    now,
    blocks: endpoints > 1 ? FINAL_AFTER_BLOCKS_IF_OTHERS_SILENT : FINAL_AFTER_BLOCKS_IF_ALONE,
  })
}

function isAnswer({ result }: Opinion): boolean {
  return result.kind !== 'unknown'
}

function doubtOf(results: readonly BroadcastResult[]): string {
  const refused = results.find(({ kind }) => FINAL.includes(kind) || CURABLE.includes(kind))
  if (refused !== undefined && refused.kind !== 'accepted')
    return `one endpoint refuses it, and the service waits for a second opinion at the newest block: ${refused.detail}`
  const [first] = results
  return first === undefined || first.kind === 'accepted' ? 'no endpoint answered' : first.detail
}

/**
 * Remembers when and where bytes were refused for the first time. A lost memory delays a refusal by one block
 * and `SETTLE_MS`.
 */
export interface RefusalMemory {
  firstRefusal(bytes: string): SeenRefusal | undefined
  /** Notes the newest answers of the endpoints to these bytes. `now` is in ms of the monotonic clock. */
  remember(bytes: string, opinions: readonly Opinion[], now: number): void
}

/** The memory holds at most this many refused bytes and forgets the oldest first. */
const MOST_REMEMBERED = 1_000

/** Creates an empty memory. */
export function createRefusalMemory(): RefusalMemory {
  const first = new BoundedMap<string, SeenRefusal>(MOST_REMEMBERED)
  return {
    firstRefusal: (bytes) => first.get(bytes),
    remember: (bytes, opinions, now) => {
      const current = opinions.filter(({ behind }) => !behind)
      if (current.some((one) => isAnswer(one) && !NO_CONTRADICTION.includes(one.result.kind)))
        first.delete(bytes)
      const heads = current.flatMap(({ result, head }) =>
        head === undefined || !FINAL.includes(result.kind) ? [] : [head],
      )
      if (heads.length > 0 && !first.has(bytes)) first.set(bytes, { head: heads.reduce(smaller), at: now })
    },
  }
}
