import { type Fields, isAbsent, readAddress, readFields, readQuantity } from './parameters.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'
import { readTransaction } from './transaction-request.ts'
import { requireAccount, requireChain, type WalletRequest } from './wallet-call.ts'

/** The version of EIP-5792 that the methods speak. */
export const CALLS_VERSION = '2.0.0'

/** The most calls of a bundle: a batch of `sendTransactionBatch` has no more transactions. */
export const MOST_CALLS = 100

/**
 * Reads the calls of `wallet_sendCalls` as items of `sendTransactionBatch`, which are yet to be validated.
 *
 * @throws RpcError for what the account cannot do: all calls in one transaction, another chain, a capability that is not optional
 */
export function readCalls(request: WalletRequest, bundle: Fields): readonly object[] {
  const { version, atomicRequired, calls } = bundle
  const chainId = readQuantity(bundle.chainId, 'chainId')
  const from = readAddress(bundle.from, 'from')
  if (version !== CALLS_VERSION) throw invalidParams(`version: ${CALLS_VERSION} is expected`)
  if (typeof atomicRequired !== 'boolean') throw invalidParams('atomicRequired: true or false is expected')
  if (chainId === undefined) throw invalidParams('chainId: expected')
  if (!Array.isArray(calls) || calls.length === 0) throw invalidParams('calls: at least one call is expected')
  if (calls.length > MOST_CALLS)
    throw new RpcError(RPC_CODES.bundleTooLarge, `calls: at most ${MOST_CALLS} are expected`)
  if (atomicRequired)
    throw new RpcError(
      RPC_CODES.atomicityNotSupported,
      'atomicRequired: false is expected, because the account sends one transaction for each call',
    )
  refuseCapabilities(bundle)
  requireChain(request, chainId, RPC_CODES.unsupportedChain)
  if (from !== undefined) requireAccount(request, from, 'from')
  return calls.map((call: unknown, at) => readCall(request, readFields(call, `calls.${at}`)))
}

function readCall(request: WalletRequest, call: Fields): object {
  refuseCapabilities(call)
  const { capabilities, ...content } = call
  return readTransaction(request, content)
}

function refuseCapabilities({ capabilities }: Fields): void {
  if (isAbsent(capabilities)) return
  const required = Object.entries(readFields(capabilities, 'capabilities')).find(
    ([, capability]) => (Object(capability) as Fields).optional !== true,
  )
  if (required)
    throw new RpcError(
      RPC_CODES.unsupportedCapability,
      `capabilities: ${required[0]} is not supported, and not optional`,
    )
}
