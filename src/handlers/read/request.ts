import type { Chain } from '../../chains/chain.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Input } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import { NETWORK_TYPES, type NetworkType } from '../../networks/network.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { isEvmRequest, readEvmRequest } from './evm-request.ts'
import { isSolanaRequest, readSolanaRequest } from './solana-request.ts'
import { isStellarRequest, readStellarRequest } from './stellar-request.ts'

/** The body of a request to send or replace, and an item of a batch. */
export type RequestBody = Input<'sendTransaction'>['body']

/**
 * Reads the body as the request of the relayer's network type.
 * @throws AppError 400 `wrong_network_type` for a body of another group
 */
export function readRequest(body: RequestBody, relayer: Relayer, chain: Chain): ChainRequest {
  const request = READERS[relayer.networkType](body, chain)
  if (request === undefined) throw wrongGroup(body, relayer)
  return request
}

type RequestOf<T extends NetworkType> = Extract<ChainRequest, { readonly type: T }>

/** The readers return undefined for a body of another group. */
const READERS: {
  readonly [T in NetworkType]: (body: RequestBody, chain: Chain) => RequestOf<T> | undefined
} = {
  evm: (body, chain) => (isEvmRequest(body) ? readEvmRequest(body, chain) : undefined),
  solana: (body) => (isSolanaRequest(body) ? readSolanaRequest(body) : undefined),
  stellar: (body) => (isStellarRequest(body) ? readStellarRequest(body) : undefined),
}

function wrongGroup(body: RequestBody, { id, networkType }: Relayer): AppError {
  return new AppError(
    'wrong_network_type',
    `The body is a request for a relayer of type ${groupOf(body)}; relayer ${id} is on a network of type ${networkType}, so ${EXPECTED[networkType]} is expected.`,
  )
}

const IS_OF_GROUP: Readonly<Record<NetworkType, (body: RequestBody) => boolean>> = {
  evm: isEvmRequest,
  solana: isSolanaRequest,
  stellar: isStellarRequest,
}

/** The contract admits no body outside these groups. */
function groupOf(body: RequestBody): NetworkType {
  const group = NETWORK_TYPES.find((type) => IS_OF_GROUP[type](body))
  if (group === undefined) throw new Error('a body that fits the contract belongs to a group')
  return group
}

const EXPECTED: Readonly<Record<NetworkType, string>> = {
  evm: 'value with to or data',
  solana: 'transaction or instructions',
  stellar: 'network with operations or transaction_xdr',
}
