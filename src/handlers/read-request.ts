import type { Chain, ChainRequest, Speed } from '../chains/chain.ts'
import type { Input, Schemas } from '../contract/operations.ts'
import { badRequest } from '../errors.ts'
import type { NetworkType } from '../networks/network.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { defined } from './defined.ts'

type RequestBody = Input<'sendTransaction'>['body']

/** The speed of a request that names neither a speed nor a price. */
const DEFAULT_SPEED: Speed = 'fast'

/**
 * The body as the domain sees it. Which group of fields applies is decided by the relayer's network type.
 * @throws AppError 400 `wrong_network_type` for a body of another group
 */
export function readRequest(body: RequestBody, relayer: Relayer, chain: Chain): ChainRequest {
  if (!isEvm(body)) {
    const given = groupOf(body)
    throw badRequest(
      'wrong_network_type',
      `The body is a request for a ${given} relayer; relayer ${relayer.id} is on an ${relayer.networkType} network, so value with to or data is expected.`,
    )
  }
  return defined({
    to: body.to ? chain.canonicalAddress(body.to) : undefined,
    value: body.value,
    data: body.data,
    gasLimit: body.gas_limit ?? undefined,
    gasPrice: body.gas_price,
    maxFeePerGas: body.max_fee_per_gas,
    maxPriorityFeePerGas: body.max_priority_fee_per_gas,
    speed: body.speed ?? defaultSpeed(body),
    validUntil: body.valid_until === undefined ? undefined : new Date(body.valid_until),
  })
}

function isEvm(body: RequestBody): body is Schemas['EvmTransactionRequest'] {
  return 'value' in body
}

function groupOf(body: RequestBody): NetworkType {
  return 'network' in body ? 'stellar' : 'solana'
}

function defaultSpeed(body: Schemas['EvmTransactionRequest']): Speed | undefined {
  const priced = body.gas_price ?? body.max_fee_per_gas ?? body.max_priority_fee_per_gas
  return priced === undefined ? DEFAULT_SPEED : undefined
}
