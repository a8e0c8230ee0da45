import { omitUndefined } from '../lib/object.ts'
import { invalidParams, RPC_CODES } from './rpc-error.ts'
import {
  type Fields,
  isAbsent,
  readAddress,
  readBytes,
  readQuantity,
  requireAccount,
  requireChain,
  type WalletRequest,
} from './wallet-call.ts'

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
 * Reads a call of a bundle as the body of `sendTransaction`, which is yet to be validated. Amounts are
 * decimal strings.
 *
 * @throws RpcError for a nonce: a call of EIP-5792 has none
 */
export function readBundledCall(request: WalletRequest, fields: Fields): object {
  if (!isAbsent(fields.nonce))
    throw invalidParams('nonce: none is expected, because the relayer numbers its transactions')
  return readContent(request, fields)
}

/**
 * Reads the transaction of `eth_sendTransaction` in the same way, and its nonce apart; undefined if it has
 * none.
 */
export function readTransaction(
  request: WalletRequest,
  fields: Fields,
): { readonly content: object; readonly nonce: bigint | undefined } {
  return { content: readContent(request, fields), nonce: readQuantity(fields.nonce, 'nonce') }
}

/**
 * Reads the transaction of `eth_signTransaction` as the body of `signTransaction`. It must have everything
 * that is signed.
 */
export function readUnsigned(request: WalletRequest, fields: Fields): object {
  const nonce = readQuantity(fields.nonce, 'nonce')
  const content = readContent(request, fields)
  if (nonce === undefined) throw invalidParams('nonce: expected, because none is assigned when only signing')
  if (isAbsent(fields.gas))
    throw invalidParams('gas: expected, because nothing is estimated when only signing')
  return { ...content, nonce: String(nonce) }
}

function readContent(request: WalletRequest, fields: Fields): object {
  refuseUnknown(fields)
  const from = readAddress(fields.from, 'from')
  const chainId = readQuantity(fields.chainId, 'chainId')
  if (from !== undefined) requireAccount(request, from, 'from')
  if (chainId !== undefined) requireChain(request, chainId, RPC_CODES.chainDisconnected)
  const amount = (name: string) => readQuantity(fields[name], name)?.toString()
  return omitUndefined({
    value: amount('value') ?? '0',
    to: readAddress(fields.to, 'to'),
    data: readData(fields),
    gas_limit: amount('gas'),
    gas_price: amount('gasPrice'),
    max_fee_per_gas: amount('maxFeePerGas'),
    max_priority_fee_per_gas: amount('maxPriorityFeePerGas'),
  })
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
