import type { Chain } from '../../chains/chain.ts'
import type { RegisteredFunctions } from '../../chains/evm/content.ts'
import type { Db } from '../../database/schema.ts'
import { AppError } from '../../errors.ts'
import { findFunctions } from '../../relayers/interfaces/interfaces-store.ts'
import { withEncodedInstructions } from './encoded-instructions.ts'
import { isEvmRequest } from './evm-request.ts'
import type { RequestBody } from './request.ts'

/** The relayer that sends the bodies. */
export interface CallContext {
  readonly db: Db
  readonly relayerId: string
  readonly chain: Chain
}

/** A body, and its path in errors: `body`. */
interface PlacedBody {
  readonly body: RequestBody
  readonly place: string
}

/**
 * Puts the encoded data in the place of a call by name, on EVM and Solana. What follows, such as the fingerprint and the rules, then knows only
 * the data, so both spellings are the same request. A body without a call stays as it is.
 *
 * @throws AppError `invalid_request` with the field that does not fit
 */
export async function withEncodedCall(context: CallContext, body: RequestBody): Promise<RequestBody> {
  const [encoded = body] = await withEncodedCalls(context, [{ body, place: 'body' }])
  return encoded
}

/** Does the same for many bodies, and reads the registered ABIs of all of them in one query. */
export async function withEncodedCalls(
  context: CallContext,
  bodies: readonly PlacedBody[],
): Promise<RequestBody[]> {
  const { db, relayerId, chain } = context
  const addresses = bodies.flatMap(({ body }) => contractOf(body, chain) ?? [])
  const functions = await findFunctions(db, relayerId, [...new Set(addresses)])
  return bodies.map(({ body, place }) => {
    const contract = contractOf(body, chain)
    const registered = contract === undefined ? undefined : registrationOf(relayerId, contract, functions)
    return encodeBody({ body, place }, chain, registered)
  })
}

/** The contract whose registered ABI can have the function; undefined for a body that has no need of it. */
function contractOf(body: RequestBody, { contractCalls, canonicalAddress }: Chain): string | undefined {
  if (!isEvmRequest(body) || contractCalls === undefined) return undefined
  return body.call !== undefined && body.call.abi === undefined && body.to
    ? canonicalAddress(body.to)
    : undefined
}

function registrationOf(
  relayerId: string,
  contract: string,
  functions: ReadonlyMap<string, readonly object[]>,
): RegisteredFunctions {
  const path = `/api/v1/relayers/${relayerId}/abis/${contract}`
  return { contract, path, functions: functions.get(contract) }
}

function encodeBody(
  { body, place }: PlacedBody,
  chain: Chain,
  registered: RegisteredFunctions | undefined,
): RequestBody {
  if ('instructions' in body) return withEncodedInstructions(body, chain, place)
  const { contractCalls } = chain
  // A relayer on another kind of network refuses the body with or without the call.
  if (!isEvmRequest(body) || body.call === undefined || contractCalls === undefined) return body
  const { call, ...others } = body
  if (others.data !== undefined)
    throw new AppError('invalid_request', `${place}.call: expected either data or call, not both.`)
  if (!others.to)
    throw new AppError('invalid_request', `${place}.to: expected the address of the contract that is called.`)
  const encoded = contractCalls.encode(call, registered)
  if (encoded.kind === 'refused')
    throw new AppError(encoded.refusal.code, `${place}.${encoded.refusal.detail}`)
  return { ...others, data: encoded.value }
}
