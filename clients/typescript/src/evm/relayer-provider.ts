import type { RelayerReference } from '../relayer-reference.ts'
import { firstAttempt } from '../transactions/attempts.ts'
import type { Transaction } from '../transactions/wait-for.ts'
import { createCallBundles } from './call-bundles.ts'
import { createEvmRelayer, type EvmRelayer } from './evm-relayer.ts'
import { type Hex, readFields } from './parameters.ts'
import { PROVIDER_CODES, ProviderRpcError } from './provider-rpc-error.ts'
import { createReceipts } from './receipts.ts'
import { createSentTransactions, type SentTransactions } from './sent-transactions.ts'
import { createSigning } from './signing.ts'
import { toProviderError } from './to-provider-error.ts'
import { readTransaction } from './transaction-request.ts'

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

/** A provider, and what an adapter needs beside it. */
interface ProviderParts {
  readonly provider: RelayerProvider
  readonly relayer: EvmRelayer
  /**
   * Sends a transaction with the names of JSON-RPC, and resolves as soon as it is signed.
   *
   * @throws ProviderRpcError as the provider does
   */
  sendTransaction(request: unknown): Promise<Transaction>
}

type Method = (...params: readonly unknown[]) => Promise<unknown>

/** Makes a provider and its parts, which know the same transactions. */
export function createRelayerProvider(reference: RelayerReference): ProviderParts {
  const relayer = createEvmRelayer(reference)
  const sent = createSentTransactions(relayer)
  const sendTransaction = async (request: unknown) =>
    sent.send(await readTransaction(relayer, readFields(request, 'transaction')))
  const methods = createMethods(relayer, sent, sendTransaction)
  const provider: RelayerProvider = {
    request: translated(async ({ method, params }: RequestArguments) => {
      const own = methods.get(method)
      return own ? own(...listOf(params)) : relayer.forward(method, params)
    }),
    on: () => provider,
    removeListener: () => provider,
  }
  return { provider, relayer, sendTransaction: translated(sendTransaction) }
}

function translated<Passed, Result>(act: (passed: Passed) => Promise<Result>) {
  return (passed: Passed) =>
    act(passed).catch((error: unknown) => {
      throw toProviderError(error)
    })
}

function createMethods(
  relayer: EvmRelayer,
  sent: SentTransactions,
  sendTransaction: (request: unknown) => Promise<Transaction>,
): ReadonlyMap<string, Method> {
  const receipts = createReceipts(relayer, sent)
  const signing = createSigning(relayer)
  const bundles = createCallBundles(relayer)
  const accounts = async () => [await relayer.address()]
  return new Map<string, Method>([
    ['eth_accounts', accounts],
    ['eth_requestAccounts', accounts],
    ['eth_chainId', relayer.chainId],
    ['net_version', async () => String(BigInt(await relayer.chainId()))],
    ['eth_sendTransaction', async (request) => firstAttempt(await sendTransaction(request))?.hash as Hex],
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

/** The hash could be that of a transaction, which no one would see. */
async function refuseToSignHashes(): Promise<never> {
  throw new ProviderRpcError(
    PROVIDER_CODES.unsupportedMethod,
    'eth_sign: not supported, because a hash cannot be read; use personal_sign or eth_signTypedData_v4',
  )
}

function listOf(params: RequestArguments['params']): readonly unknown[] {
  return Array.isArray(params) ? params : []
}
