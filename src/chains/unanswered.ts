import type { BroadcastResult } from './answer.ts'

type Refusing = Extract<BroadcastResult, { readonly unanswered?: true }>

const REFUSING: readonly string[] = [
  'underpriced',
  'too_cheap',
  'too_dear',
  'gas_limit',
  'refused',
  'unclear',
] satisfies Refusing['kind'][]

/**
 * Adds to a refusal that another endpoint received the bytes and did not answer: it may have accepted them (I6). Other results stay as they
 * are, because they end nothing. Pure.
 */
export function markUnanswered(result: BroadcastResult, unanswered: boolean | undefined): BroadcastResult {
  return unanswered === true && isRefusing(result) ? { ...result, unanswered } : result
}

/** Returns true for a result that can end an attempt. */
export function isRefusing(result: BroadcastResult): result is Refusing {
  return isRefusal(result.kind)
}

/** Returns true for the kind of a result that can end an attempt. */
export function isRefusal(kind: string): boolean {
  return REFUSING.includes(kind)
}
