import { JsonError, measureJson, parseJson } from '../../contract/exact-integers.ts'
import type { HandlerMap } from '../../http/handler.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'
import { readUnsigned } from './transaction-request.ts'
import {
  type AdmitCall,
  readAddress,
  readFields,
  requireAccount,
  type WalletMethod,
  type WalletRequest,
} from './wallet-call.ts'

/** The operations that the methods are made of. They have each rule, and write the audit log. */
export type SigningOperations = Pick<HandlerMap, 'signMessage' | 'signTypedData' | 'signTransaction'>

interface SigningDeps {
  readonly operations: SigningOperations
  readonly admitCall: AdmitCall
}

/** Makes `personal_sign`: EIP-191 over bytes that are UTF-8 text. */
export function createPersonalSign({ operations, admitCall }: SigningDeps): WalletMethod {
  return async (request, [data, address]) => {
    requireOwn(request, address)
    const call = { path: { relayer_id: request.relayer.id }, body: { message: readMessage(data) } }
    const input = admitCall('signMessage', request.context.principal, call)
    const { data: signature } = await operations.signMessage(input, request.context)
    return `0x${signature.sig}`
  }
}

/** Makes `eth_signTypedData_v4`: EIP-712 over a document, as an object or in JSON. */
export function createSignTypedData({ operations, admitCall }: SigningDeps): WalletMethod {
  return async (request, [address, document]) => {
    requireOwn(request, address)
    const call = { path: { relayer_id: request.relayer.id }, body: readDocument(document, request.context) }
    const input = admitCall('signTypedData', request.context.principal, call)
    const { data: signature } = await operations.signTypedData(input, request.context)
    return `0x${signature.sig}`
  }
}

/** Makes `eth_signTransaction`, which answers with the signed bytes and sends nothing. */
export function createSignTransaction({ operations, admitCall }: SigningDeps): WalletMethod {
  return async (request, [transaction]) => {
    const body = readUnsigned(request, readFields(transaction, 'transaction'))
    const call = { path: { relayer_id: request.relayer.id }, body }
    const input = admitCall('signTransaction', request.context.principal, call)
    const { data: signed } = await operations.signTransaction(input, request.context)
    if ('signed_transaction' in signed) return signed.signed_transaction
    throw new Error('a relayer on an EVM network signs transactions of EVM')
  }
}

/** Refuses `eth_sign`: the hash could be that of a transaction, unnoticed. */
export const refuseToSignHashes: WalletMethod = async () => {
  throw new RpcError(
    RPC_CODES.unsupportedMethod,
    'eth_sign: not supported, because a hash cannot be read; use personal_sign or eth_signTypedData_v4',
  )
}

/** The limit of JSON values in a text, the same as for the body of `signTypedData`. */
const MAX_VALUES = 20_000

function requireOwn(request: WalletRequest, address: unknown): void {
  const own = readAddress(address, 'address')
  if (own === undefined) throw invalidParams('address: the address of the account is expected')
  requireAccount(request, own, 'address')
}

/** The service signs text. Bytes without 0x are text already, as wallets take them. */
function readMessage(data: unknown): string {
  if (typeof data !== 'string')
    throw invalidParams('data: bytes are expected, which are 0x and hexadecimal digits')
  if (data.length % 2 !== 0 || !/^0x[0-9a-f]*$/i.test(data)) return data
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(data.slice(2), 'hex'),
    )
  } catch {
    throw invalidParams(
      'data: the bytes of UTF-8 text are expected, because the service signs nothing else; sign a hash as a field of typed data',
    )
  }
}

/** The values that the texts of one HTTP request may still have: a batch has as many as a single call. */
const valuesLeft = new WeakMap<object, number>()

function readDocument(document: unknown, context: object): unknown {
  if (typeof document !== 'string') return readFields(document, 'document')
  const left = valuesLeft.get(context) ?? MAX_VALUES
  const values = measureJson(document, { maxValues: left })
  if (typeof values === 'string')
    throw invalidParams(
      `document: JSON of at most ${MAX_VALUES} values, those of all calls of the batch together, and 32 levels is expected`,
    )
  valuesLeft.set(context, left - values)
  try {
    return readFields(parseJson(document), 'document')
  } catch (error) {
    throw error instanceof JsonError ? invalidParams('document: JSON is expected') : error
  }
}
