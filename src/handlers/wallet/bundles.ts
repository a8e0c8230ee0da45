import { createHash } from 'node:crypto'
import type { Attempt } from '../../chains/attempt.ts'
import type { Db } from '../../database/db.ts'
import { fingerprintOf } from '../../lib/hash.ts'
import type { SendItem } from '../../transactions/accept/accept.ts'
import type { IdempotencyKey } from '../../transactions/accept/idempotency.ts'
import { isNoop } from '../../transactions/model/attempts.ts'
import type { TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { isFinal } from '../../transactions/model/transitions.ts'
import { findKeys } from '../../transactions/store/idempotency-store.ts'
import { findTransactions } from '../../transactions/store/lookups-store.ts'
import { readBatch } from '../codecs/encoded-call.ts'
import type { CoreParts, Service, TransactionParts } from '../service.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'
import { includedAttempt } from './sending.ts'
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
  requireScope,
  type WalletMethod,
  type WalletRequest,
} from './wallet-call.ts'

/** The limit of EIP-5792, in characters. */
const MAX_ID_LENGTH = 8194

/**
 * Creates `wallet_sendCalls`. The account is not a smart account, so its calls are transactions, one after
 * the other; all of them are accepted or none. A bundle with an id from the caller can be sent again: the
 * idempotency keys of its transactions derive from the id.
 */
export function createSendCalls({ db, transactions, admitCall }: CoreParts & TransactionParts): WalletMethod {
  return async (request, [passed]) => {
    const { relayer, runtime, context } = request
    const bundle = readFields(passed, 'request')
    const calls = readCalls(request, bundle)
    const id = isAbsent(bundle.id) ? undefined : readId(bundle.id)
    const call = { path: { relayer_id: relayer.id }, body: { transactions: calls } }
    const { body } = admitCall('sendTransactionBatch', context.principal, call)
    const { actor } = context
    const reading = { db, relayerId: relayer.id, chain: runtime.chain, maker: actor.keyId }
    const items = await readBatch(reading, body, relayer)
    const bundleKey = { id, fingerprint: fingerprintOf(body), maker: actor.keyId }
    const keyed = id === undefined ? items : withKeys(items, { ...bundleKey, id })
    // The wallet is the relayer's own account, whichever others it has.
    const account = { ...relayer, accounts: undefined }
    const accepted = await transactions.sendBatch(account, { items: keyed, actor })
    return { id: id ?? bundleIdOf(accepted.map(({ transaction }) => transaction.id)) }
  }
}

/** Makes `wallet_getCallsStatus`. It finds bundles that any process has sent. */
export function createGetCallsStatus({ db }: Pick<Service, 'db'>): WalletMethod {
  return async (request, [passed]) => {
    requireScope(request, 'transactions:read')
    const id = readId(passed)
    const items = await findBundle(db, request, id)
    const { status, receipts } = await readBundle(request, items)
    return { version: CALLS_VERSION, id, chainId: quantity(request.chainId), status, atomic: false, receipts }
  }
}

/** Answers `wallet_getCapabilities`. */
export const getCapabilities: WalletMethod = async (request, [address, chainIds]) => {
  const account = readAddress(address, 'address')
  if (account !== undefined) requireAccount(request, account, 'address')
  const own = request.chainId
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

/** The fingerprint is of the whole bundle, so that the same id with more or fewer calls is another bundle. */
function withKeys(
  items: readonly SendItem[],
  { id, ...name }: Pick<IdempotencyKey, 'fingerprint' | 'maker'> & { readonly id: string },
): SendItem[] {
  return items.map((item, at) => ({
    ...item,
    idempotencyKey: { key: keyOf(id, at), ...name, field: 'id' },
  }))
}

/** An idempotency key has at most 255 characters. */
function keyOf(id: string, at: number): string {
  return `calls-${createHash('sha256').update(id).digest('hex')}-${at}`
}

/** @throws RpcError if the relayer has no such bundle, or not each of its transactions */
async function findBundle(
  db: Db,
  { relayer, context }: WalletRequest,
  id: string,
): Promise<readonly TransactionWithAttempts[]> {
  const maker = context.actor.keyId
  const keys = Array.from({ length: MOST_CALLS }, (_, at) => ({ key: keyOf(id, at), maker }))
  const named = await findKeys(db, relayer.id, keys)
  const ofKeys = keys.flatMap((key) => named.get(key)?.transactionId ?? [])
  const ids = ofKeys.length > 0 ? ofKeys : (transactionIdsOf(id) ?? [])
  const found = new Map(
    (await findTransactions(db, relayer.id, ids)).map((item) => [item.transaction.id, item]),
  )
  const items = ids.flatMap((transactionId) => found.get(transactionId) ?? [])
  if (ids.length === 0 || items.length < ids.length)
    throw new RpcError(RPC_CODES.unknownBundle, `id: no bundle ${id} is known`)
  return items
}

async function readBundle({ runtime }: WalletRequest, items: readonly TransactionWithAttempts[]) {
  const hashes = items.flatMap((item) => includedCall(item)?.signed.hash ?? [])
  const calls = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  const replies = calls.length === 0 ? [] : await runtime.chain.forward(calls)
  const receipts = replies.map((reply) => {
    if (reply.kind === 'result') return reply.result
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
function bundleStatus(items: readonly TransactionWithAttempts[]): number {
  const results = new Set(items.map(resultOf))
  if (results.has('pending')) return BUNDLE_PENDING
  if (results.has('succeeded')) return results.size === 1 ? CONFIRMED : PARTLY_REVERTED
  return results.has('reverted') ? REVERTED : NEVER_INCLUDED
}

/**
 * Returns the attempt of a request that the chain includes, or undefined if it includes none, or a no-op in
 * its place.
 */
function includedCall(item: TransactionWithAttempts): Attempt | undefined {
  const included = includedAttempt(item)
  return included === undefined || isNoop(included.kind) ? undefined : included
}

function resultOf(item: TransactionWithAttempts): CallResult {
  const included = includedAttempt(item)
  if (included && isNoop(included.kind)) return 'dropped'
  if (included) return included.outcome === 'reverted' ? 'reverted' : 'succeeded'
  return isFinal(item.transaction.status) ? 'dropped' : 'pending'
}
