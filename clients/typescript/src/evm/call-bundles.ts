import { IdempotencyKeyReusedError, NotFoundError } from '../errors/api-error.ts'
import { BoundedMap } from './bounded-map.ts'
import { bundleIdOf, transactionIdsOf } from './call-bundle-id.ts'
import { CALLS_VERSION, readCalls } from './call-bundle-request.ts'
import { BUNDLE_PENDING, bundleStatus, includedCall } from './call-bundle-status.ts'
import type { EvmRelayer } from './evm-relayer.ts'
import { type Fields, isAbsent, readAddress, readFields, readQuantity, readText } from './parameters.ts'
import { PROVIDER_CODES, ProviderRpcError } from './provider-rpc-error.ts'
import { toProviderError } from './to-provider-error.ts'

/** The methods of EIP-5792. The account is no smart account, so its calls are transactions, one after the other. */
export interface CallBundles {
  /** `wallet_sendCalls` */
  send(request: unknown): Promise<{ readonly id: string }>
  /** `wallet_getCallsStatus` */
  status(id: unknown): Promise<Fields>
  /** `wallet_getCapabilities` */
  capabilities(address: unknown, chainIds: unknown): Promise<Fields>
}

/** The provider forgets the oldest ids of the application when it knows more: a bundle of 100 calls needs about 10 KB. */
const MOST_NAMED = 1_000

/** Makes the methods. This provider alone knows the bundles whose id the application chose; the id of any other names its transactions. */
export function createCallBundles(relayer: EvmRelayer): CallBundles {
  const named = new BoundedMap<string, readonly string[]>(MOST_NAMED)
  return {
    send: async (passed) => {
      const request = readFields(passed, 'request')
      const calls = await readCalls(relayer, request)
      const id = isAbsent(request.id) ? undefined : readText(request.id, 'id')
      if (id !== undefined && named.has(id)) throw duplicate(id)
      const sent = await sendAll(relayer, calls, id)
      if (id === undefined) return { id: bundleIdOf(sent) }
      named.set(id, sent)
      return { id }
    },
    status: async (passed) => {
      const id = readText(passed, 'id')
      const transactionIds = named.get(id) ?? transactionIdsOf(id)
      if (transactionIds === undefined) throw unknownBundle(id)
      return { version: CALLS_VERSION, id, atomic: false, ...(await readBundle(relayer, id, transactionIds)) }
    },
    capabilities: async (address, chainIds) => {
      const account = readAddress(address, 'address')
      if (account !== undefined) await relayer.requireAccount(account, 'address')
      const own = await relayer.chainId()
      const isAsked =
        !Array.isArray(chainIds) || chainIds.some((id) => readQuantity(id, 'chainIds') === BigInt(own))
      return isAsked ? { [own]: { atomic: { status: 'unsupported' } } } : {}
    },
  }
}

/**
 * Sends all calls or none. The same id gives each call the same idempotency key, so an application can repeat a bundle whose answer it has lost.
 */
async function sendAll(
  { client, relayerId }: EvmRelayer,
  calls: Awaited<ReturnType<typeof readCalls>>,
  id: string | undefined,
): Promise<readonly string[]> {
  const prefix = id === undefined ? crypto.randomUUID() : await digestOf(id)
  const transactions = calls.map((call, at) => ({ ...call, idempotency_key: `calls-${prefix}-${at}` }))
  const accepted = await client.transactions
    .sendBatch(relayerId, { transactions })
    .catch((error: unknown) => {
      throw error instanceof IdempotencyKeyReusedError && id !== undefined
        ? duplicate(id)
        : refusedCall(error)
    })
  return accepted.map((transaction) => transaction.id)
}

/** An id may have 8,194 characters, and an idempotency key 255. */
async function digestOf(id: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(id))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The service names an item of the batch, and the application knows it as a call. */
function refusedCall(error: unknown): unknown {
  const cause = toProviderError(error)
  if (!(cause instanceof ProviderRpcError)) return cause
  const message = cause.message.replace(/^body\.transactions\[(\d+)\]/, 'calls.$1')
  return new ProviderRpcError(cause.code, message, { data: cause.data, cause: error })
}

async function readBundle(
  { client, relayerId, forward, chainId }: EvmRelayer,
  id: string,
  transactionIds: readonly string[],
): Promise<Fields> {
  const reads = transactionIds.map((transactionId) => client.transactions.get(relayerId, transactionId))
  const transactions = await Promise.all(reads).catch((error: unknown) => {
    throw error instanceof NotFoundError ? unknownBundle(id) : error
  })
  const hashes = transactions.flatMap((transaction) => includedCall(transaction) ?? [])
  const receipts = await Promise.all(hashes.map((hash) => forward('eth_getTransactionReceipt', [hash])))
  // An endpoint that lags does not have each block yet.
  const status = receipts.includes(null) ? BUNDLE_PENDING : bundleStatus(transactions)
  const known = receipts.filter((receipt) => receipt !== null)
  return { chainId: await chainId(), status, receipts: known.map(presentReceipt) }
}

/** The fields of a receipt that EIP-5792 names. */
function presentReceipt(receipt: unknown): Fields {
  const { logs, status, blockHash, blockNumber, gasUsed, transactionHash } = receipt as Fields
  return { logs, status, blockHash, blockNumber, gasUsed, transactionHash }
}

function duplicate(id: string): ProviderRpcError {
  return new ProviderRpcError(
    PROVIDER_CODES.duplicateId,
    `id: there is a bundle ${id} already; choose another id`,
  )
}

function unknownBundle(id: string): ProviderRpcError {
  return new ProviderRpcError(PROVIDER_CODES.unknownBundle, `id: no bundle ${id} is known`)
}
