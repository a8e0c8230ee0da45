import type { Answer } from '../chains/answer.ts'
import { AppError } from '../errors.ts'

/**
 * Returns the answer of the chain about what a caller wants signed. The service never sees the signed content again, so what no node can tell
 * now is refused.
 * @throws AppError with the refusal of the chain, or `network_unavailable` when no node answers
 */
export function requireAnswer<T>(answer: Answer<T>): T {
  if (answer.kind === 'ok') return answer.value
  if (answer.kind === 'refused') throw new AppError(answer.refusal.code, answer.refusal.detail)
  throw new AppError(
    'network_unavailable',
    'No node of the network answers at present, so nothing was signed. Try again.',
    { cause: answer.detail },
  )
}
