import { createCallBundles } from './evm/call-bundles.ts'
import { createEvmRelayer } from './evm/evm-relayer.ts'
import { type Fields, readFields } from './evm/parameters.ts'
import { PROVIDER_CODES, ProviderRpcError } from './evm/provider-rpc-error.ts'
import { createReceipts } from './evm/receipts.ts'
import { createSentTransactions } from './evm/sent-transactions.ts'
import { createSigning } from './evm/signing.ts'
import { toProviderError } from './evm/to-provider-error.ts'
import { readTransaction } from './evm/transaction-request.ts'
import type { RelayerReference } from './relayer-reference.ts'

export { ProviderRpcError } from './evm/provider-rpc-error.ts'
export type { RelayerReference } from './relayer-reference.ts'

/** A call of a provider. */
export interface RequestArguments {
  readonly method: string
  /** By place; by name only where the network takes it so. */
  readonly params?: readonly unknown[] | object | undefined
}

/** A provider as EIP-1193 describes it, whose only account is that of a relayer. */
export interface RelayerProvider {
  /** @throws ProviderRpcError with a code of EIP-1193, EIP-1474 or EIP-5792 */
  request(call: RequestArguments): Promise<unknown>
  /** Takes a listener as EIP-1193 wants it. It never hears anything, because the account and the chain of a relayer do not change. */
  on(event: string, listener: (...passed: never[]) => void): RelayerProvider
  removeListener(event: string, listener: (...passed: never[]) => void): RelayerProvider
}

type Method = (...params: readonly unknown[]) => Promise<unknown>

/**
 * Makes a provider of a relayer on an EVM network, for any library that takes one. What it sends is a transaction of the relayer: the service
 * numbers it, prices it and replaces it. Methods that it does not have itself go to the network of the relayer.
 *
 * The API key needs `relayers:read` and `rpc`, and for what it does `transactions:write` with `transactions:read`, or `sign`.
 */
export function createEip1193Provider(reference: RelayerReference): RelayerProvider {
  const relayer = createEvmRelayer(reference)
  const methods = createMethods(relayer)
  const provider: RelayerProvider = {
    request: async ({ method, params }) => {
      try {
        const own = methods.get(method)
        return await (own ? own(...listOf(params)) : relayer.forward(method, params))
      } catch (error) {
        throw toProviderError(error)
      }
    },
    on: () => provider,
    removeListener: () => provider,
  }
  return provider
}

function createMethods(relayer: ReturnType<typeof createEvmRelayer>): ReadonlyMap<string, Method> {
  const sent = createSentTransactions(relayer)
  const receipts = createReceipts(relayer, sent)
  const signing = createSigning(relayer)
  const bundles = createCallBundles(relayer)
  const accounts = async () => [await relayer.address()]
  return new Map<string, Method>([
    ['eth_accounts', accounts],
    ['eth_requestAccounts', accounts],
    ['eth_chainId', relayer.chainId],
    ['net_version', async () => String(BigInt(await relayer.chainId()))],
    [
      'eth_sendTransaction',
      async (request) => sent.send(await readTransaction(relayer, transactionOf(request))),
    ],
    ['eth_getTransactionReceipt', receipts.receipt],
    ['eth_getTransactionByHash', receipts.transaction],
    ['eth_signTransaction', signing.transaction],
    ['eth_signTypedData_v4', signing.typedData],
    ['personal_sign', signing.message],
    ['eth_sign', refuseToSignHashes],
    ['wallet_sendCalls', bundles.send],
    ['wallet_getCallsStatus', bundles.status],
    ['wallet_getCapabilities', bundles.capabilities],
  ])
}

function transactionOf(request: unknown): Fields {
  return readFields(request, 'transaction')
}

/** The hash could be that of a transaction, which nobody would see. */
async function refuseToSignHashes(): Promise<never> {
  throw new ProviderRpcError(
    PROVIDER_CODES.unsupportedMethod,
    'eth_sign: not supported, because it signs a hash that nobody can read; use personal_sign or eth_signTypedData_v4',
  )
}

function listOf(params: RequestArguments['params']): readonly unknown[] {
  return Array.isArray(params) ? params : []
}
