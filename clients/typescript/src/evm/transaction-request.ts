import type { Schemas } from '../operation-types.ts'
import type { EvmRelayer } from './evm-relayer.ts'
import { type Fields, isAbsent, omitUndefined, readAddress, readBytes, readQuantity } from './parameters.ts'
import { invalidParams, PROVIDER_CODES } from './provider-rpc-error.ts'

/** The fields of a transaction that the service sends or signs, with the names of JSON-RPC. */
const KNOWN: ReadonlySet<string> = new Set([
  'from',
  'to',
  'value',
  'data',
  'input',
  'gas',
  'gasPrice',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
  'nonce',
  'chainId',
  'type',
])

/** Legacy and EIP-1559; the price, or else the network, decides which one. */
const TYPES: ReadonlySet<unknown> = new Set(['0x0', '0x2'])

/**
 * Reads the transaction of `eth_sendTransaction`.
 *
 * @throws ProviderRpcError for a nonce: ignoring it would send a second transaction where a replacement is meant
 */
export async function readTransaction(
  relayer: EvmRelayer,
  fields: Fields,
): Promise<Schemas['EvmTransactionRequest']> {
  if (!isAbsent(fields.nonce))
    throw invalidParams(
      'nonce: none is expected, because the relayer numbers its transactions. Replace a transaction with transactions.replace of the client',
    )
  return readContent(relayer, fields)
}

/** Reads the transaction of `eth_signTransaction`, which has to have everything that is signed. */
export async function readUnsigned(
  relayer: EvmRelayer,
  fields: Fields,
): Promise<Schemas['UnsignedEvmTransaction']> {
  const nonce = readQuantity(fields.nonce, 'nonce')
  const { gas_limit, ...content } = await readContent(relayer, fields)
  if (nonce === undefined) throw invalidParams('nonce: expected, because none is assigned when only signing')
  if (gas_limit === undefined || gas_limit === null)
    throw invalidParams('gas: expected, because nothing is estimated when only signing')
  return { ...content, nonce, gas_limit }
}

async function readContent(relayer: EvmRelayer, fields: Fields): Promise<Schemas['EvmTransactionRequest']> {
  refuseUnknown(fields)
  const { from, chainId } = {
    from: readAddress(fields.from, 'from'),
    chainId: readQuantity(fields.chainId, 'chainId'),
  }
  if (from !== undefined) await relayer.requireAccount(from, 'from')
  if (chainId !== undefined) await relayer.requireChain(chainId, PROVIDER_CODES.chainDisconnected)
  return {
    value: readQuantity(fields.value, 'value') ?? 0n,
    ...omitUndefined({
      to: readAddress(fields.to, 'to'),
      data: readData(fields),
      gas_limit: readQuantity(fields.gas, 'gas'),
      gas_price: readQuantity(fields.gasPrice, 'gasPrice'),
      max_fee_per_gas: readQuantity(fields.maxFeePerGas, 'maxFeePerGas'),
      max_priority_fee_per_gas: readQuantity(fields.maxPriorityFeePerGas, 'maxPriorityFeePerGas'),
    }),
  }
}

/** A field that was left out silently would change what the transaction does. */
function refuseUnknown(fields: Fields): void {
  const unknown = Object.keys(fields).find((name) => !KNOWN.has(name) && !isAbsent(fields[name]))
  if (unknown !== undefined)
    throw invalidParams(`${unknown}: not supported; expected are ${[...KNOWN].join(', ')}`)
  if (!isAbsent(fields.type) && !TYPES.has(fields.type))
    throw invalidParams('type: 0x0 or 0x2 is expected, because the service sends no other type')
}

function readData(fields: Fields): string | undefined {
  const data = readBytes(fields.data, 'data')
  const input = readBytes(fields.input, 'input')
  if (data !== undefined && input !== undefined && data.toLowerCase() !== input.toLowerCase())
    throw invalidParams('input: the same bytes as data are expected, or only one of the two fields')
  return input ?? data
}
