import type { Db } from '../../database/db.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { IdempotencyKey } from '../../transactions/accept/idempotency.ts'
import { isFinal } from '../../transactions/model/transitions.ts'
import {
  EVERYONE,
  findKey,
  type KeyName,
  type KeyRecord,
  releaseKey,
} from '../../transactions/store/idempotency-store.ts'
import { findTransaction } from '../../transactions/store/lookups-store.ts'
import { findQueueEnd } from '../../transactions/store/queue-store.ts'
import type { Service } from '../service.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'
import type { WalletRequest } from './wallet-call.ts'

/**
 * The idempotency key of a transaction that was sent with a nonce of the account, the same for all callers.
 * No caller can choose one with a space (`NONCE_KEYS` in reset-store.ts).
 */
export function nonceKey(nonce: bigint, fingerprint: string): IdempotencyKey {
  return { key: `nonce ${nonce}`, maker: EVERYONE, fingerprint, field: 'nonce' }
}

/**
 * Checks that a transaction with this nonce is the next one of the account, or the same one as before.
 * Foundry and other programs that number transactions themselves send a nonce. The service gives the number;
 * a nonce that is anything else than the next one would mean a replacement or a gap, and is refused.
 *
 * @throws RpcError with the nonce that is expected, or with the transaction that has it
 */
export async function checkNonce(
  service: Pick<Service, 'db' | 'clock'>,
  request: WalletRequest,
  { nonce, key }: { readonly nonce: bigint; readonly key: IdempotencyKey },
): Promise<void> {
  const isSame = async () => {
    const earlier = await findHolder(service.db, request.relayer, key)
    if (earlier === undefined || earlier.fingerprint === key.fingerprint) return earlier !== undefined
    throw new RpcError(
      RPC_CODES.transactionRejected,
      `nonce: transaction ${earlier.transactionId} was sent with nonce ${nonce} and another content; replace it with PUT …/transactions/${earlier.transactionId}`,
      { transactionId: earlier.transactionId },
    )
  }
  if (await isSame()) return
  const next = await nextNonce(service, request)
  if (nonce === next) return
  // The same request may have been accepted after the first look, which is why the next nonce is another one
  // now.
  if (await isSame()) return
  throw invalidParams(
    `nonce: ${next} is the next one of relayer ${request.relayer.id}, not ${nonce}. The relayer numbers its transactions, so the nonce can be left out; replace a transaction with PUT …/transactions/{transaction_id}`,
  )
}

/**
 * Finds the transaction that was sent with a nonce. One that ended before it was numbered never had the
 * nonce, so it is forgotten: otherwise a program that always sends the next nonce could not go on after a
 * cancellation.
 */
async function findHolder(db: Db, relayer: Relayer, key: KeyName): Promise<KeyRecord | undefined> {
  const earlier = await findKey(db, relayer.id, key)
  if (earlier === undefined) return undefined
  const found = await findTransaction(db, relayer.id, earlier.transactionId)
  if (found === undefined || found.transaction.nonce !== undefined || !isFinal(found.transaction.status))
    return earlier
  await releaseKey(db, relayer.id, earlier)
  return undefined
}

/**
 * Answers `eth_getTransactionCount` of the account for `pending`: the nonce that its next transaction gets. A
 * node knows only what was broadcast to it.
 */
export async function countPending(
  service: Pick<Service, 'db' | 'clock'>,
  request: WalletRequest,
): Promise<string> {
  return `0x${(await nextNonce(service, request)).toString(16)}`
}

/** Recognises such a call. */
export function isOwnPendingCount(
  { method, params }: { readonly method: string; readonly params?: unknown },
  address: string,
): boolean {
  if (method !== 'eth_getTransactionCount' || !Array.isArray(params) || params[1] !== 'pending') return false
  return typeof params[0] === 'string' && params[0].toLowerCase() === address.toLowerCase()
}

/** Counts the transactions that are accepted and have no nonce yet, because they get theirs first. */
async function nextNonce(
  { db, clock }: { readonly db: Db; readonly clock: Service['clock'] },
  { relayer, runtime }: WalletRequest,
): Promise<bigint> {
  const call = { method: 'eth_getTransactionCount', params: [relayer.address, 'latest'] }
  const now = new Date(clock.now())
  const [[reply], { nextNonce: counter = 0n, unnumbered }] = await Promise.all([
    runtime.chain.forward([call]),
    findQueueEnd(db, { relayerId: relayer.id, address: relayer.address, now }),
  ])
  if (reply?.kind !== 'result' || typeof reply.result !== 'string')
    throw new RpcError(
      RPC_CODES.resourceUnavailable,
      'No node of the network answers, so the next nonce is not known. Nothing was sent; try again, or leave the nonce out.',
    )
  const used = BigInt(reply.result)
  return (used > counter ? used : counter) + unnumbered
}
