import type { Answer } from '../../chains/answer.ts'
import { AppError } from '../../errors.ts'

/**
 * Returns the chain's answer to a caller's request. @param silence the message if no node answers: what did
 * not happen, and what to do
 * @throws AppError with the refusal of the chain, or `network_unavailable` when no node answers
 */
export function requireAnswer<T>(answer: Answer<T>, silence: string): T {
  if (answer.kind === 'ok') return answer.value
  if (answer.kind === 'refused') throw new AppError(answer.refusal.code, answer.refusal.detail)
  throw new AppError('network_unavailable', silence, { cause: answer.detail })
}

/**
 * Says that nothing was signed. The service never sees again what it signs for a caller, so it refuses what
 * no node can confirm now.
 */
export const NOTHING_SIGNED = 'No node of the network answers, so nothing was signed. Try again.'
