import { parseJson } from '../exact-json.ts'
import type { Body } from '../operation-types.ts'
import type { EvmRelayer } from './evm-relayer.ts'
import { type Hex, readAddress, readFields } from './parameters.ts'
import { invalidParams, PROVIDER_CODES, ProviderRpcError } from './provider-rpc-error.ts'
import { readUnsigned } from './transaction-request.ts'

/** The methods that sign, and send nothing. */
export interface Signing {
  /** `personal_sign`: EIP-191 over bytes that are UTF-8 text. */
  message(data: unknown, address: unknown): Promise<Hex>
  /** `eth_signTypedData_v4`: EIP-712 over a document, as an object or in JSON. */
  typedData(address: unknown, document: unknown): Promise<Hex>
  /** `eth_signTransaction`: the signed bytes. */
  transaction(request: unknown): Promise<Hex>
}

/** Makes them of the signing operations of the service, which has each rule. */
export function createSigning(relayer: EvmRelayer): Signing {
  const { client, relayerId } = relayer
  const requireOwn = async (address: unknown) => {
    const own = readAddress(address, 'address')
    if (own === undefined) throw invalidParams('address: the address of the account is expected')
    await relayer.requireAccount(own, 'address')
  }
  return {
    message: async (data, address) => {
      await requireOwn(address)
      const { sig } = await client.relayers.signMessage(relayerId, { message: readMessage(data) })
      return `0x${sig}`
    },
    typedData: async (address, document) => {
      await requireOwn(address)
      const body = readFields(readDocument(document), 'document') as Body<'signTypedData'>
      const { sig } = await client.relayers.signTypedData(relayerId, body)
      return `0x${sig}`
    },
    transaction: async (request) => {
      const unsigned = await readUnsigned(relayer, readFields(request, 'transaction'))
      const signed = await client.relayers.signTransaction(relayerId, unsigned)
      if ('signed_transaction' in signed) return signed.signed_transaction as Hex
      throw new ProviderRpcError(PROVIDER_CODES.internal, 'a signed transaction of EVM is expected')
    },
  }
}

/** The service signs text. Bytes without 0x are text already, as wallets take them. */
function readMessage(data: unknown): string {
  if (typeof data !== 'string')
    throw invalidParams('data: bytes are expected, which are 0x and hexadecimal digits')
  if (!/^0x([0-9a-f]{2})*$/i.test(data)) return data
  const bytes = Uint8Array.from(data.slice(2).match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw invalidParams(
      'data: the bytes of UTF-8 text are expected, because the service signs nothing else; sign a hash as a field of typed data',
    )
  }
}

function readDocument(document: unknown): unknown {
  if (typeof document !== 'string') return document
  try {
    return parseJson(document)
  } catch {
    throw invalidParams('document: JSON is expected')
  }
}
