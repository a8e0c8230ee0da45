import type { BroadcastResult } from '../../answer.ts'
import { markUnanswered } from '../../unanswered.ts'

/** The answer of one private endpoint to signed bytes. */
export interface PrivateOpinion {
  readonly host: string
  readonly result: BroadcastResult
  /** The endpoint was asked before and may have the bytes. */
  readonly unanswered: boolean
}

/** Answers that only demand other bytes for the same nonce. */
const CURABLE: readonly BroadcastResult['kind'][] = ['underpriced', 'too_cheap', 'too_dear']

/** Answers that end a transaction when they come from nodes, and refusals in unknown words. */
const REFUSING: readonly BroadcastResult['kind'][] = ['refused', 'gas_limit', 'unclear']

/**
 * Combines the answers of the private endpoints. One that has the bytes, or knows that the nonce is used, outweighs the others. A refusal for
 * good is only `unclear`: these endpoints simulate, limit and filter by rules of their own, and there is nobody else to ask. What is known to
 * one of them says nothing about another transaction, so `known` is dropped. Pure.
 */
export function evaluatePrivateOpinions(opinions: readonly PrivateOpinion[]): BroadcastResult {
  if (opinions.some(({ result }) => result.kind === 'accepted')) return { kind: 'accepted' }
  const find = (kinds: readonly BroadcastResult['kind'][]) =>
    opinions.find(({ result }) => kinds.includes(result.kind))
  const isUnanswered = opinions.some(({ result, unanswered }) => unanswered || result.kind === 'unknown')
  const decisive = find(['nonce_used']) ?? find(CURABLE)
  if (decisive !== undefined) return markUnanswered(named(decisive), isUnanswered)
  const open = find(['later']) ?? find(REFUSING) ?? opinions[0]
  if (open === undefined) return { kind: 'unknown', detail: 'no private endpoint was asked' }
  const result = named(open)
  return REFUSING.includes(result.kind) && 'detail' in result
    ? markUnanswered({ kind: 'unclear', detail: result.detail }, isUnanswered)
    : result
}

function named({ host, result }: PrivateOpinion): BroadcastResult {
  return 'detail' in result ? { ...result, detail: `private endpoint ${host}: ${result.detail}` } : result
}
