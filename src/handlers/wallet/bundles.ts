import { createHash } from 'node:crypto'
import type { Db } from '../../database/schema.ts'
import { fingerprintOf } from '../../lib/fingerprint.ts'
import type { BatchAcceptor, BatchItem } from '../../transactions/accept/accept-batch.ts'
import type { TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { findKeys } from '../../transactions/store/idempotency-store.ts'
import { findTransactions } from '../../transactions/store/read-store.ts'
import { readBatch } from '../read/batch.ts'
import type { AdmitCall } from './admit-call.ts'
import { bundleIdOf, transactionIdsOf } from './bundle-id.ts'
import { CALLS_VERSION, MOST_CALLS, readCalls } from './bundle-request.ts'
import { BUNDLE_PENDING, bundleStatus, includedCall } from './bundle-status.ts'
import { type Fields, isAbsent, readAddress, readFields, readQuantity, readText } from './parameters.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'
import { requireAccount, requireScope, type WalletMethod, type WalletRequest } from './wallet-call.ts'

/** The parts of the service that bundles need. */
export interface BundleDeps {
  readonly db: Db
  readonly acceptBatch: BatchAcceptor
  readonly admitCall: AdmitCall
}

/** The limit of EIP-5792, in characters. */
const MAX_ID_LENGTH = 8194

/**
 * Makes `wallet_sendCalls`. The account is no smart account, so its calls are transactions, one after the other; all of them are accepted or
 * none. A bundle with an id of the caller can be sent again: the id gives its transactions their idempotency keys.
 */
export function createSendCalls({ db, acceptBatch, admitCall }: BundleDeps): WalletMethod {
  return async (request, [passed]) => {
    const { relayer, runtime, context } = request
    const bundle = readFields(passed, 'request')
    const transactions = readCalls(request, bundle)
    const id = isAbsent(bundle.id) ? undefined : readId(bundle.id)
    const call = { path: { relayer_id: relayer.id }, body: { transactions } }
    const { body } = admitCall('sendTransactionBatch', context.principal, call)
    const items = await readBatch({ db, relayerId: relayer.id, chain: runtime.chain }, body, relayer)
    const keyed = id === undefined ? items : withKeys(items, id, fingerprintOf(body))
    const accepted = await acceptBatch(relayer, { items: keyed, actor: context.actor })
    return { id: id ?? bundleIdOf(accepted.map(({ transaction }) => transaction.id)) }
  }
}

/** Makes `wallet_getCallsStatus`. It finds bundles that any process has sent. */
export function createGetCallsStatus({ db }: Pick<BundleDeps, 'db'>): WalletMethod {
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
function withKeys(items: readonly BatchItem[], id: string, fingerprint: string): BatchItem[] {
  return items.map((item, at) => ({
    ...item,
    idempotencyKey: { key: keyOf(id, at), fingerprint, field: 'id' },
  }))
}

/** An idempotency key has at most 255 characters. */
function keyOf(id: string, at: number): string {
  return `calls-${createHash('sha256').update(id).digest('hex')}-${at}`
}

/** @throws RpcError when the relayer has no such bundle, or not each of its transactions */
async function findBundle(
  db: Db,
  { relayer }: WalletRequest,
  id: string,
): Promise<readonly TransactionWithAttempts[]> {
  const keys = Array.from({ length: MOST_CALLS }, (_, at) => keyOf(id, at))
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
    throw new RpcError(RPC_CODES.disconnected, 'No endpoint of the network told the receipts. Ask again.')
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
