import type { Chain } from '../../chains/chain.ts'
import type { Authorization, EvmRequest } from '../../chains/evm/content.ts'
import type { Speed } from '../../chains/speed.ts'
import type { Input, Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'

/** The speed of a request that names neither a speed nor a price. */
const DEFAULT_SPEED: Speed = 'fast'

/** Recognises a body of group A. */
export function isEvmRequest(
  body: Input<'sendTransaction'>['body'],
): body is Schemas['EvmTransactionRequest'] {
  return 'value' in body
}

/** Converts a body of group A to the domain's request. */
export function readEvmRequest(body: Schemas['EvmTransactionRequest'], chain: Chain): EvmRequest {
  return omitUndefined({
    type: 'evm' as const,
    to: body.to ? chain.canonicalAddress(body.to) : undefined,
    value: body.value,
    data: body.data,
    accessList: body.access_list?.map(({ address, storage_keys }) => ({
      address: chain.canonicalAddress(address),
      storageKeys: storage_keys,
    })),
    authorizationList: body.authorization_list?.map((authorization) =>
      readAuthorization(authorization, chain),
    ),
    gasLimit: body.gas_limit ?? undefined,
    gasPrice: body.gas_price,
    maxFeePerGas: body.max_fee_per_gas,
    maxPriorityFeePerGas: body.max_priority_fee_per_gas,
    speed: body.speed ?? defaultSpeed(body),
    validFrom: body.valid_from === undefined ? undefined : new Date(body.valid_from),
    validUntil: body.valid_until === undefined ? undefined : new Date(body.valid_until),
  })
}

function readAuthorization(
  { chain_id, address, y_parity, nonce, r, s }: Schemas['EvmAuthorizationList'][number],
  chain: Chain,
): Authorization {
  const yParity = y_parity === 0 ? 0 : 1
  return { chainId: chain_id, address: chain.canonicalAddress(address), nonce, yParity, r, s }
}

function defaultSpeed(body: Schemas['EvmTransactionRequest']): Speed | undefined {
  const priced = body.gas_price ?? body.max_fee_per_gas ?? body.max_priority_fee_per_gas
  return priced === undefined ? DEFAULT_SPEED : undefined
}
