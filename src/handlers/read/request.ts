import type { Chain, ChainRequest } from '../../chains/chain.ts'
import type { Input } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import type { NetworkType } from '../../networks/network.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { isEvmRequest, readEvmRequest } from './evm-request.ts'
import { isSolanaRequest, readSolanaRequest } from './solana-request.ts'
import { isStellarRequest, readStellarRequest } from './stellar-request.ts'

type RequestBody = Input<'sendTransaction'>['body']

/**
 * The body as the domain sees it. Which group of fields applies is decided by the relayer's network type.
 * @throws AppError 400 `wrong_network_type` for a body of another group
 */
export function readRequest(body: RequestBody, relayer: Relayer, chain: Chain): ChainRequest {
  if (relayer.networkType === 'evm' && isEvmRequest(body)) return readEvmRequest(body, chain)
  if (relayer.networkType === 'solana' && isSolanaRequest(body)) return readSolanaRequest(body)
  if (relayer.networkType === 'stellar' && isStellarRequest(body)) return readStellarRequest(body)
  throw wrongGroup(body, relayer)
}

function wrongGroup(body: RequestBody, { id, networkType }: Relayer): AppError {
  return new AppError(
    'wrong_network_type',
    `The body is a request for a relayer of type ${groupOf(body)}; relayer ${id} is on a network of type ${networkType}, so ${EXPECTED[networkType]} is expected.`,
  )
}

function groupOf(body: RequestBody): NetworkType {
  if (isEvmRequest(body)) return 'evm'
  return isStellarRequest(body) ? 'stellar' : 'solana'
}

const EXPECTED = {
  evm: 'value with to or data',
  solana: 'transaction or instructions',
  stellar: 'network with operations or transaction_xdr',
} as const
