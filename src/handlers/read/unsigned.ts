import type { Chain } from '../../chains/chain.ts'
import type { UnsignedTransaction } from '../../chains/unsigned.ts'
import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import type { NetworkType } from '../../networks/network.ts'
import type { Relayer } from '../../relayers/relayer.ts'

/**
 * Converts the body to the transaction that the relayer signs.
 * @throws AppError 400 `wrong_network_type` for the body of another network type
 */
export function readUnsigned(
  body: Schemas['SignTransactionRequest'],
  { id, networkType }: Relayer,
  chain: Chain,
): UnsignedTransaction {
  const unsigned = read(body, chain)
  if (unsigned.type === networkType) return unsigned
  const [sent] = Object.keys(body)
  throw new AppError(
    'wrong_network_type',
    `The field ${sent} is for networks of type ${unsigned.type}. Relayer ${id} is on a network of type ${networkType}: send ${FIELDS[networkType]}.`,
  )
}

/** The fields of each network type, for the caller of another one. */
const FIELDS: Readonly<Record<NetworkType, string>> = {
  evm: 'unsigned_transaction (0x and the RLP), or value with nonce, gas_limit and a price',
  solana: 'transaction (base64)',
  stellar: 'unsigned_xdr (base64)',
}

function read(body: Schemas['SignTransactionRequest'], chain: Chain): UnsignedTransaction {
  if ('unsigned_xdr' in body) return { type: 'stellar', envelope: body.unsigned_xdr }
  if ('transaction' in body) return { type: 'solana', transaction: body.transaction }
  if ('unsigned_transaction' in body) return { type: 'evm', encoded: body.unsigned_transaction }
  const request = omitUndefined({
    type: 'evm' as const,
    to: body.to ? chain.canonicalAddress(body.to) : undefined,
    value: body.value,
    data: body.data,
    gasLimit: body.gas_limit,
    gasPrice: body.gas_price,
    maxFeePerGas: body.max_fee_per_gas,
    maxPriorityFeePerGas: body.max_priority_fee_per_gas,
  })
  return { type: 'evm', request, nonce: body.nonce }
}
