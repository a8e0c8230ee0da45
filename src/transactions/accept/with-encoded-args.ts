import type { Chain } from '../../chains/chain.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { requireAnswer } from '../require-answer.ts'

const NO_SPECIFICATION =
  'No node of the network tells the specification of the contract at present, so nothing was changed. Try again, or send args.'

/**
 * Encodes the arguments that a request has by name. It is done before every rule, which then knows the encoded call alone, and after the look
 * at the idempotency key: a repeated request gets its transaction also when no node answers, or the contract has changed.
 * @throws AppError `network_unavailable` when no node tells about the contract, or `invalid_request` with the argument that does not fit
 */
export async function withEncodedArgs(chain: Chain, request: ChainRequest): Promise<ChainRequest> {
  const answer = await chain.encodeNamedArgs?.(request)
  return answer === undefined ? request : requireAnswer(answer, NO_SPECIFICATION)
}
