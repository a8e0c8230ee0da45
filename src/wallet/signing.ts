import { JsonError, measureJson, parseJson } from '../contract/exact-integers.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'
import { readUnsigned } from './transaction-request.ts'
import {
  readAddress,
  readFields,
  requireAccount,
  type WalletMethod,
  type WalletRequest,
} from './wallet-call.ts'

/** Answers `personal_sign`: EIP-191 over bytes that are UTF-8 text. */
export const personalSign: WalletMethod = async (request, [data, address]) => {
  requireOwn(request, address)
  const { data: signature } = await request.client.call('signMessage', {
    body: { message: readMessage(data) },
  })
  return `0x${signature.sig}`
}

/** Answers `eth_signTypedData_v4`: EIP-712 over a document, as an object or in JSON. */
export const signTypedData: WalletMethod = async (request, [address, document]) => {
  requireOwn(request, address)
  const { data: signature } = await request.client.call('signTypedData', {
    body: readDocument(document, request),
  })
  return `0x${signature.sig}`
}

/** Answers `eth_signTransaction` with the signed bytes, and sends nothing. */
export const signTransaction: WalletMethod = async (request, [transaction]) => {
  const body = readUnsigned(request, readFields(transaction, 'transaction'))
  const { data: signed } = await request.client.call('signTransaction', { body })
  if ('signed_transaction' in signed) return signed.signed_transaction
  throw new Error('a relayer on an EVM network signs transactions of EVM')
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
const valuesLeft = new WeakMap<WalletRequest, number>()

function readDocument(document: unknown, request: WalletRequest): unknown {
  if (typeof document !== 'string') return readFields(document, 'document')
  const left = valuesLeft.get(request) ?? MAX_VALUES
  const values = measureJson(document, { maxValues: left })
  if (typeof values === 'string')
    throw invalidParams(
      `document: JSON of at most ${MAX_VALUES} values, those of all calls of the batch together, and 32 levels is expected`,
    )
  valuesLeft.set(request, left - values)
  try {
    return readFields(parseJson(document), 'document')
  } catch (error) {
    throw error instanceof JsonError ? invalidParams('document: JSON is expected') : error
  }
}
