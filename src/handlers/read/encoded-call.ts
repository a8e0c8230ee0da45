import type { Chain } from '../../chains/chain.ts'
import { AppError } from '../../errors.ts'
import { withEncodedInstructions } from './encoded-instructions.ts'
import { isEvmRequest } from './evm-request.ts'
import type { RequestBody } from './request.ts'

/**
 * Puts the encoded data in the place of a call by name, on EVM and Solana. What follows, such as the fingerprint and the rules, then knows only
 * the data, so both spellings are the same request. A body without a call stays as it is.
 *
 * @param place the path of the body in errors: `body`
 * @throws AppError `invalid_request` with the field that does not fit
 */
export function withEncodedCall(body: RequestBody, chain: Chain, place: string): RequestBody {
  if ('instructions' in body) return withEncodedInstructions(body, chain, place)
  const { encodeCall } = chain
  // A relayer on another kind of network refuses the body with or without the call.
  if (!isEvmRequest(body) || body.call === undefined || encodeCall === undefined) return body
  const { call, ...others } = body
  if (others.data !== undefined)
    throw new AppError('invalid_request', `${place}.call: expected either data or call, not both.`)
  if (!others.to)
    throw new AppError('invalid_request', `${place}.to: expected the address of the contract that is called.`)
  const encoded = encodeCall(call)
  if (encoded.kind === 'refused')
    throw new AppError(encoded.refusal.code, `${place}.${encoded.refusal.detail}`)
  return { ...others, data: encoded.value }
}
