import type { Chain } from '../../chains/chain.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { AppError } from '../../errors.ts'
import { NETWORK_TYPES, type NetworkType } from '../../networks/network.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { Codec, RequestBody } from './codec.ts'
import { EVM_CODEC } from './evm.ts'
import { SOLANA_CODEC } from './solana.ts'
import { STELLAR_CODEC } from './stellar.ts'

/** The codec of each type of networks. Handlers use it, and never compare types. */
export const CODECS: Readonly<Record<NetworkType, Codec>> = {
  evm: EVM_CODEC,
  solana: SOLANA_CODEC,
  stellar: STELLAR_CODEC,
}

/**
 * Reads the body as the request of the relayer's network type.
 * @throws AppError 400 `wrong_network_type` for a body of another group
 */
export function readRequest(body: RequestBody, relayer: Relayer, chain: Chain): ChainRequest {
  const codec = CODECS[relayer.networkType]
  if (!codec.accepts(body)) throw wrongGroup(body, relayer)
  return codec.readRequest(body, chain)
}

function wrongGroup(body: RequestBody, { id, networkType }: Relayer): AppError {
  return new AppError(
    'wrong_network_type',
    `The body is a request for a relayer of type ${groupOf(body)}; relayer ${id} is on a network of type ${networkType}, so ${CODECS[networkType].expected} is expected.`,
  )
}

/** The contract admits no body outside these groups. */
function groupOf(body: RequestBody): NetworkType {
  const group = NETWORK_TYPES.find((type) => CODECS[type].accepts(body))
  if (group === undefined) throw new Error('a body that fits the contract belongs to a group')
  return group
}
