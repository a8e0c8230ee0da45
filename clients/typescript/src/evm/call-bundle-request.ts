import type { Schemas } from '../operation-types.ts'
import type { EvmRelayer } from './evm-relayer.ts'
import { type Fields, isAbsent, readAddress, readFields, readQuantity } from './parameters.ts'
import { invalidParams, PROVIDER_CODES, ProviderRpcError } from './provider-rpc-error.ts'
import { readTransaction } from './transaction-request.ts'

/** The version of EIP-5792 that the provider speaks. */
export const CALLS_VERSION = '2.0.0'

/** With 100 transactions, the id of a bundle has 3,202 of the 8,194 characters that it may have. */
const MOST_CALLS = 100

/**
 * Reads the calls of `wallet_sendCalls`.
 *
 * @throws ProviderRpcError for what the account cannot do: all calls at once, another chain, a capability that is not optional
 */
export async function readCalls(
  relayer: EvmRelayer,
  request: Fields,
): Promise<readonly Schemas['EvmTransactionRequest'][]> {
  const { version, atomicRequired, calls } = request
  const chainId = readQuantity(request.chainId, 'chainId')
  const from = readAddress(request.from, 'from')
  if (version !== CALLS_VERSION) throw invalidParams(`version: ${CALLS_VERSION} is expected`)
  if (typeof atomicRequired !== 'boolean') throw invalidParams('atomicRequired: true or false is expected')
  if (chainId === undefined) throw invalidParams('chainId: expected')
  if (!Array.isArray(calls) || calls.length === 0) throw invalidParams('calls: at least one call is expected')
  if (calls.length > MOST_CALLS) throw fail('bundleTooLarge', `calls: at most ${MOST_CALLS} are expected`)
  if (atomicRequired)
    throw fail('atomicityNotSupported', 'atomicRequired: the account sends one transaction for each call')
  refuseCapabilities(request)
  await relayer.requireChain(chainId, PROVIDER_CODES.unsupportedChain)
  if (from !== undefined) await relayer.requireAccount(from, 'from')
  return Promise.all(calls.map((call, at) => readCall(relayer, readFields(call, `calls.${at}`))))
}

function readCall(relayer: EvmRelayer, call: Fields): Promise<Schemas['EvmTransactionRequest']> {
  refuseCapabilities(call)
  const { capabilities, ...content } = call
  return readTransaction(relayer, content)
}

function refuseCapabilities({ capabilities }: Fields): void {
  if (isAbsent(capabilities)) return
  const required = Object.entries(readFields(capabilities, 'capabilities')).find(
    ([, capability]) => (Object(capability) as Fields).optional !== true,
  )
  if (required)
    throw fail('unsupportedCapability', `capabilities: ${required[0]} is not supported, and not optional`)
}

function fail(code: keyof typeof PROVIDER_CODES, message: string): ProviderRpcError {
  return new ProviderRpcError(PROVIDER_CODES[code], message)
}
