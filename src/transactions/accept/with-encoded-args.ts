import type { Chain, ChainRequest } from '../../chains/chain.ts'
import { AppError } from '../../errors.ts'

/**
 * Encodes the arguments that a request has by name. It is done before every rule, which then knows the encoded call alone, and after the look
 * at the idempotency key: a repeated request gets its transaction also when no node answers, or the contract has changed.
 * @throws AppError `network_unavailable` when no node tells about the contract, or `invalid_request` with the argument that does not fit
 */
export async function withEncodedArgs(chain: Chain, request: ChainRequest): Promise<ChainRequest> {
  const answer = await chain.encodeNamedArgs?.(request)
  if (answer === undefined) return request
  if (answer.kind === 'ok') return answer.value
  if (answer.kind === 'refused') throw new AppError(answer.refusal.code, answer.refusal.detail)
  throw new AppError(
    'network_unavailable',
    'No node of the network tells the specification of the contract at present, so nothing was changed. Try again, or send args.',
    { cause: answer.detail },
  )
}
