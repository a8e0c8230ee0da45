import { smaller } from '../../../lib/bigint.ts'
import type { BroadcastResult } from '../../answer.ts'

/** What one endpoint said to signed bytes. */
export interface Opinion {
  readonly result: BroadcastResult
  /** The newest block that it knows, where it told. */
  readonly head: bigint | undefined
  /** It has not reached the newest block that any endpoint told of. */
  readonly behind: boolean
}

interface Circumstances {
  /** The head of the endpoint that refused these bytes first, as far as that is remembered. */
  readonly firstRefusedAt: bigint | undefined
  /** How many endpoints the network has. */
  readonly endpoints: number
}

/** Answers that are worth more than a refusal, the best first: somebody has the bytes, or knows more of the nonce. */
const BETTER: readonly BroadcastResult['kind'][] = ['accepted', 'nonce_used']

/** Answers that only mean other bytes for the same nonce, so one endpoint's word is enough. */
const CURABLE: readonly BroadcastResult['kind'][] = ['too_cheap', 'too_dear']

/** Answers that end a transaction, or its nonce. */
const FINAL: readonly BroadcastResult['kind'][] = ['refused', 'gas_limit']

/** Blocks after which the same endpoint's refusal counts as a second one. */
const LATER_ALONE = 1n

/**
 * The same where other endpoints exist and none of them answers: a node that left the chain goes on for a while, and one that rests comes
 * back within this number of blocks on most networks.
 */
export const LATER_AMONG_SILENT = 32n

/**
 * What several endpoints together say. A refusal is final only with a second opinion from the head: of another endpoint, or of the
 * same one when it stands at a later block. Until then, and from an endpoint that is behind, it means later: "not yet in Shanghai" and
 * a block gas limit of last year are refusals, too. Pure.
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
  const curable =
    opinions.find(({ result }) => result.kind === 'underpriced') ??
    current.find(({ result }) => CURABLE.includes(result.kind))
  const unanswered = opinions.length < circumstances.endpoints || opinions.some((one) => !isAnswer(one))
  if (curable) return told(curable.result, unanswered)
  const refusals = current.filter(({ result }) => FINAL.includes(result.kind))
  const refusal = refusals.find(({ result }) => result.kind === 'gas_limit') ?? refusals[0]
  if (refusal !== undefined && (refusals.length > 1 || isRepeated(refusal, opinions, circumstances)))
    return told(refusal.result, unanswered)
  return { kind: 'later', detail: doubtOf(results) }
}

/** Who did not answer may have taken the bytes all the same (I6). */
function told(result: BroadcastResult, unanswered: boolean): BroadcastResult {
  return unanswered && isRefusing(result) ? { ...result, unanswered: true } : result
}

type Refusing = Extract<BroadcastResult, { readonly unanswered?: true }>

function isRefusing(result: BroadcastResult): result is Refusing {
  return result.kind === 'underpriced' || FINAL.includes(result.kind) || CURABLE.includes(result.kind)
}

/** The same endpoint once more, at a later block, and nobody who thinks otherwise. */
function isRepeated(
  { head }: Opinion,
  opinions: readonly Opinion[],
  { firstRefusedAt, endpoints }: Circumstances,
): boolean {
  const others = opinions.filter(({ behind, result }) => !behind && !FINAL.includes(result.kind))
  if (head === undefined || firstRefusedAt === undefined || others.some(isAnswer)) return false
  return head >= firstRefusedAt + (endpoints > 1 ? LATER_AMONG_SILENT : LATER_ALONE)
}

function isAnswer({ result }: Opinion): boolean {
  return result.kind !== 'unknown'
}

function doubtOf(results: readonly BroadcastResult[]): string {
  const refused = results.find(({ kind }) => FINAL.includes(kind) || CURABLE.includes(kind))
  if (refused !== undefined && refused.kind !== 'accepted')
    return `one endpoint refuses it, and a second opinion from the newest block is waited for: ${refused.detail}`
  const [first] = results
  return first === undefined || first.kind === 'accepted' ? 'no endpoint answered' : first.detail
}

/** Where bytes were refused for the first time. Losing it makes a refusal wait for one block more. */
export interface RefusalMemory {
  firstRefusal(bytes: string): bigint | undefined
  /** What the endpoints said of these bytes just now. */
  remember(bytes: string, opinions: readonly Opinion[]): void
}

/** Refused bytes that are remembered at most; the oldest are forgotten first. */
const MOST_REMEMBERED = 1_000

/** Remembers nothing yet. */
export function createRefusalMemory(): RefusalMemory {
  const first = new Map<string, bigint>()
  return {
    firstRefusal: (bytes) => first.get(bytes),
    remember: (bytes, opinions) => {
      const current = opinions.filter(({ behind }) => !behind)
      if (current.some((one) => isAnswer(one) && !FINAL.includes(one.result.kind))) first.delete(bytes)
      const heads = current.flatMap(({ result, head }) =>
        head === undefined || !FINAL.includes(result.kind) ? [] : [head],
      )
      if (heads.length > 0 && !first.has(bytes)) first.set(bytes, heads.reduce(smaller))
      const [oldest] = first.keys()
      if (first.size > MOST_REMEMBERED && oldest !== undefined) first.delete(oldest)
    },
  }
}
