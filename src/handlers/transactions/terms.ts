import type { Db } from '../../database/db.ts'
import type { SendTerms } from '../../http/handler.ts'
import { fingerprintOf } from '../../lib/hash.ts'
import type { Clock } from '../../lib/time.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { SendItem } from '../../transactions/accept/accept.ts'
import type { IdempotencyKey } from '../../transactions/accept/idempotency.ts'
import type { TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { isFinal } from '../../transactions/model/transitions.ts'
import {
  EVERYONE,
  findKey,
  findKeys,
  type KeyName,
  type KeyRecord,
  releaseKey,
} from '../../transactions/store/idempotency-store.ts'
import { findTransaction, type TransactionState } from '../../transactions/store/lookups-store.ts'
import { findQueueEnd } from '../../transactions/store/queue-store.ts'
import { NonceError } from '../rpc/front.ts'
import type { CoreParts, RelayerParts } from '../service.ts'

// The terms of a front (`SendTerms`), as the operations that send keep them.

/** Returns the relayer as the one that sends by the terms. */
export function senderOf(relayer: Relayer, terms: SendTerms | undefined): Relayer {
  return terms?.ownAccount === true ? { ...relayer, accounts: undefined } : relayer
}

type NonceParts = Pick<CoreParts, 'db' | 'clock'> & Pick<RelayerParts, 'runtimeOf'>

/**
 * Checks that a transaction with this nonce is the next one of the account, or the same one as before, and
 * returns the key that makes it the same: no caller can choose one with a space (`NONCE_KEYS` in
 * reset-store.ts). Foundry and other programs that number transactions themselves send a nonce. The service
 * gives the number; a nonce that is anything else than the next one would mean a replacement or a gap, and is
 * refused.
 *
 * @throws NonceError
 */
export async function requireNonce(
  parts: NonceParts,
  relayer: Relayer,
  { nonce, body }: { readonly nonce: bigint; readonly body: object },
): Promise<IdempotencyKey> {
  const key = { key: `nonce ${nonce}`, maker: EVERYONE, fingerprint: fingerprintOf(body), field: 'nonce' }
  const isSame = async () => {
    const earlier = await findHolder(parts.db, relayer, key)
    if (earlier === undefined || earlier.fingerprint === key.fingerprint) return earlier !== undefined
    throw new NonceError({ kind: 'taken', transactionId: earlier.transactionId })
  }
  if (await isSame()) return key
  const next = await nextNonce(parts, relayer)
  if (next === undefined) throw new NonceError({ kind: 'unknown' })
  // The same request may have been accepted after the first look, which is why the next nonce is another one
  // now.
  if (nonce === next || (await isSame())) return key
  throw new NonceError({ kind: 'other', next })
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
 * Returns the nonce that the next transaction of the relayer's own account gets, on an EVM network; undefined
 * if no node answers. It counts the transactions that are accepted and have no nonce yet, because they get
 * theirs first.
 */
export async function nextNonce(
  { db, clock, runtimeOf }: NonceParts,
  relayer: Relayer,
): Promise<bigint | undefined> {
  const { id: relayerId, address } = relayer
  const call = { method: 'eth_getTransactionCount', params: [address, 'latest'] }
  const now = new Date(clock.now())
  const [[reply], { nextNonce: counter = 0n, unnumbered }] = await Promise.all([
    runtimeOf(relayer).chain.forward([call]),
    findQueueEnd(db, { relayerId, address, now }),
  ])
  if (reply?.kind !== 'result' || typeof reply.result !== 'string') return undefined
  const used = BigInt(reply.result)
  return (used > counter ? used : counter) + unnumbered
}

/** The most items of a batch (`sendTransactionBatch`), so no name has more keys. */
const MOST_ITEMS = 100

/**
 * Gives the items of a batch the keys of its name. The fingerprint is of the whole batch, so that the same
 * name with more or fewer items is another batch. Without a name, the items stay as they are.
 */
export function withBatchName(
  items: readonly SendItem[],
  { name, body, maker }: { readonly name: string | undefined; readonly body: object; readonly maker: string },
): readonly SendItem[] {
  if (name === undefined) return items
  const fingerprint = fingerprintOf(body)
  return items.map((item, at) => ({
    ...item,
    idempotencyKey: { key: keyOf(name, at), maker, fingerprint, field: 'id' },
  }))
}

/** Finds the ids of the transactions of a batch by the name that its caller gave it, in their order. */
export async function findNamedBatch(
  db: Db,
  relayerId: string,
  { name, maker }: { readonly name: string; readonly maker: string },
): Promise<readonly string[]> {
  const keys = Array.from({ length: MOST_ITEMS }, (_, at) => ({ key: keyOf(name, at), maker }))
  const used = await findKeys(db, relayerId, keys)
  return keys.flatMap((key) => used.get(key)?.transactionId ?? [])
}

function keyOf(name: string, at: number): string {
  return `${name}-${at}`
}

/** Tells when the wait of a request ends. */
export interface Goal {
  readonly isReached: (item: TransactionWithAttempts) => boolean
  /** The same by the part of a transaction that a wait reads. */
  readonly isDone: (state: TransactionState) => boolean
  /** The longest wait in ms. */
  readonly ms: number
}

/**
 * Waits until the transaction is signed, has ended or needs an approval.
 * @param deadline the end of the wait, in ms of the monotonic clock
 */
export function signedBy(deadline: number, clock: Clock): Goal {
  return {
    isReached: ({ transaction: { awaitsApproval, status }, attempts }) =>
      attempts.length > 0 || awaitsApproval === true || isFinal(status),
    isDone: ({ status, awaitsApproval }) => status !== 'pending' || awaitsApproval === true,
    ms: deadline - clock.monotonic(),
  }
}
