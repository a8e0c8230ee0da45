import { createHash } from 'node:crypto'
import type { TransactionFinder } from '../handlers/rpc/front.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'
import { hasEnded, includedAttempt, type ShownAttempt, type ShownTransaction } from './sending.ts'
import { readBundledCall } from './transaction-request.ts'
import {
  type Fields,
  isAbsent,
  readAddress,
  readFields,
  readQuantity,
  readText,
  requireAccount,
  requireChain,
  type WalletMethod,
  type WalletRequest,
} from './wallet-call.ts'

/** The limit of EIP-5792, in characters. */
const MAX_ID_LENGTH = 8194

/**
 * Answers `wallet_sendCalls`. The account is not a smart account, so its calls are transactions, one after
 * the other; all of them are accepted or none. A bundle with an id from the caller can be sent again: it is
 * the batch of this name.
 */
export const sendCalls: WalletMethod = async (request, [passed]) => {
  const bundle = readFields(passed, 'request')
  const transactions = readCalls(request, bundle)
  const id = isAbsent(bundle.id) ? undefined : readId(bundle.id)
  const terms = { ownAccount: true, batchName: id === undefined ? undefined : nameOf(id) } as const
  const sent = await request.client.call('sendTransactionBatch', { body: { transactions } }, terms)
  return { id: id ?? bundleIdOf(sent.data.map((one) => one.id)) }
}

/** Answers `wallet_getCallsStatus`. It finds bundles that any process has sent. */
export const getCallsStatus: WalletMethod = async (request, [passed]) => {
  const find = request.client.finder('transactions:read')
  const id = readId(passed)
  const items = await findBundle(find, id)
  const { status, receipts } = await readBundle(request, items)
  const chainId = quantity(request.client.chainId)
  return { version: CALLS_VERSION, id, chainId, status, atomic: false, receipts }
}

/** Answers `wallet_getCapabilities`. */
export const getCapabilities: WalletMethod = async (request, [address, chainIds]) => {
  const account = readAddress(address, 'address')
  if (account !== undefined) requireAccount(request, account, 'address')
  const own = request.client.chainId
  const isAsked =
    !Array.isArray(chainIds) || chainIds.some((id: unknown) => readQuantity(id, 'chainIds') === BigInt(own))
  return isAsked ? { [quantity(own)]: { atomic: { status: 'unsupported' } } } : {}
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`
}

function readId(value: unknown): string {
  const id = readText(value, 'id')
  if (id.length === 0 || id.length > MAX_ID_LENGTH)
    throw invalidParams(`id: a string of 1 to ${MAX_ID_LENGTH} characters is expected`)
  return id
}

/** Names the batch of a bundle. An idempotency key, which derives from it, has at most 255 characters. */
function nameOf(id: string): string {
  return `calls-${createHash('sha256').update(id).digest('hex')}`
}

/** @throws RpcError if the relayer has no such bundle, or not each of its transactions */
async function findBundle(find: TransactionFinder, id: string): Promise<readonly ShownTransaction[]> {
  const named = await find({ batchName: nameOf(id) })
  if (named.length > 0) return named
  const ids = transactionIdsOf(id) ?? []
  const items = await find({ ids })
  if (ids.length === 0 || items.length < ids.length)
    throw new RpcError(RPC_CODES.unknownBundle, `id: no bundle ${id} is known`)
  return items
}

async function readBundle({ client }: WalletRequest, items: readonly ShownTransaction[]) {
  const hashes = items.flatMap((item) => includedCall(item)?.hash ?? [])
  const calls = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  const answers = calls.length === 0 ? [] : await client.forward(calls)
  const receipts = answers.map(({ result, error }) => {
    if (error === undefined) return result
    throw new RpcError(RPC_CODES.disconnected, 'No endpoint of the network returned the receipts. Try again.')
  })
  // An endpoint that lags does not have each block yet.
  const status = receipts.includes(null) ? BUNDLE_PENDING : bundleStatus(items)
  return { status, receipts: receipts.filter((receipt) => receipt !== null).map(presentReceipt) }
}

/** The fields of a receipt that EIP-5792 names. */
function presentReceipt(receipt: unknown): Fields {
  const { logs, status, blockHash, blockNumber, gasUsed, transactionHash } = readFields(receipt, 'receipt')
  return { logs, status, blockHash, blockNumber, gasUsed, transactionHash }
}

/** Names a bundle of calls after its transactions. Ids of transactions are UUIDs. */
function bundleIdOf(transactionIds: readonly string[]): string {
  return `0x${transactionIds.map((id) => id.replaceAll('-', '')).join('')}`
}

/** Reads the ids of the transactions from the id of their bundle; undefined if this is another id. */
function transactionIdsOf(bundleId: string): readonly string[] | undefined {
  if (!/^0x([0-9a-f]{32})+$/.test(bundleId)) return undefined
  return bundleId
    .slice(2)
    .match(/.{32}/g)
    ?.map((hex) => hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5'))
}

/** The version of EIP-5792 that the methods speak. */
const CALLS_VERSION = '2.0.0'

/** The most calls of a bundle: a batch of `sendTransactionBatch` has no more transactions. */
export const MOST_CALLS = 100

/**
 * Reads the calls of `wallet_sendCalls` as items of `sendTransactionBatch`, which are yet to be validated.
 *
 * @throws RpcError for what the account cannot do: all calls in one transaction, another chain, a capability
 * that is not optional
 */
function readCalls(request: WalletRequest, bundle: Fields): readonly object[] {
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
  return readBundledCall(request, content)
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

/** The result of one call of a bundle: `dropped` when the chain will never include it. */
type CallResult = 'pending' | 'succeeded' | 'reverted' | 'dropped'

/** The status code of EIP-5792 of a bundle of which the chain does not include everything yet. */
const BUNDLE_PENDING = 100

/** Its further status codes. */
const CONFIRMED = 200
const NEVER_INCLUDED = 400
const REVERTED = 500
const PARTLY_REVERTED = 600

/** Decides the status of a bundle, as EIP-5792 counts it, from its transactions. Pure. */
export function bundleStatus(items: readonly ShownTransaction[]): number {
  const results = new Set(items.map(resultOf))
  if (results.has('pending')) return BUNDLE_PENDING
  if (results.has('succeeded')) return results.size === 1 ? CONFIRMED : PARTLY_REVERTED
  return results.has('reverted') ? REVERTED : NEVER_INCLUDED
}

/**
 * Returns the attempt of a request that the chain includes, or undefined if it includes none, or a no-op in
 * its place. The kind of an attempt does not tell: a no-op whose fee was raised is a `speed_up`.
 */
function includedCall(item: ShownTransaction): ShownAttempt | undefined {
  return item.no_op === true ? undefined : includedAttempt(item)
}

function resultOf(item: ShownTransaction): CallResult {
  const included = includedAttempt(item)
  if (included && item.no_op === true) return 'dropped'
  if (included) return included.outcome === 'reverted' ? 'reverted' : 'succeeded'
  return hasEnded(item) ? 'dropped' : 'pending'
}
