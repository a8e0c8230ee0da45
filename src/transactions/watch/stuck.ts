import { transact } from '../../database/locks/transact.ts'
import { unprovenAttempts } from '../model/attempts.ts'
import { isExternallySigned, type TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { setNextNonce } from '../store/nonce-store.ts'
import { findQueueHeads } from '../store/queue-store.ts'
import { announceIncident, saveTransactions } from '../store/transactions-store.ts'

/**
 * Time in ms that a transaction may be the first of its account's queue before it counts as stuck. It is
 * longer than the slowest speed waits before its fee is raised (10 minutes), so that a healthy queue is never
 * reported.
 */
export const STUCK_AFTER_MS = 900_000

/**
 * Time in ms that a stuck transaction with a nonce may block its account. Then a no-op uses the nonce and the
 * transaction ends as `failed`, because the others cannot be included otherwise.
 */
export const ABANDON_AFTER_MS = 86_400_000

/**
 * The time when each transaction was first seen at the head of a queue, by id, in ms of the monotonic clock.
 * Losing it costs only time.
 */
export type QueueHeads = Map<string, number>

/**
 * Finds the transactions that have been at the head of their queue for too long, and announces each once. A
 * stuck transaction without a nonce lets the others overtake it, and is tried again whenever it is due.
 * `isAbandoned` handles one with a nonce.
 */
export async function reportStuck(context: TransactionsContext, seen: QueueHeads): Promise<void> {
  const now = context.clock.monotonic()
  const heads = await findQueueHeads(context.db, new Date(context.clock.now()))
  const ids = new Set(heads.map(({ id }) => id))
  for (const id of [...seen.keys()]) if (!ids.has(id)) seen.delete(id)
  for (const { id } of heads) if (!seen.has(id)) seen.set(id, now)
  const stuck = heads.filter(
    ({ id, stuckSince }) => stuckSince === undefined && now - (seen.get(id) ?? now) >= STUCK_AFTER_MS,
  )
  for (const transaction of stuck) await markStuck(context, transaction)
}

/** Notes that the transaction blocks its account, and announces it. */
export async function markStuck(context: TransactionsContext, transaction: Transaction): Promise<void> {
  const { db, clock, log } = context
  const freed = await releasableNonce(context, transaction)
  const { id, relayerId, statusReason } = transaction
  const marked = { ...transaction, ...freed?.change, stuckSince: new Date(clock.now()) }
  const saved = await transact(db, async (tx) => {
    const written = await saveTransactions(tx, [marked])
    if (written.length === 0) return false
    if (freed) await setNextNonce(tx, { relayerId, address: freed.address, nonce: null })
    await announceIncident(tx, 'transaction_stuck', [id])
    return true
  })
  if (saved)
    log.warn(
      { transaction: id, relayer: relayerId, incident: 'transaction_stuck', detail: statusReason },
      'transaction incident',
    )
}

/**
 * Returns the nonce to release if no signed bytes can use it any more, on chains where bytes expire. On other
 * chains, no later nonce could be included before it, so the nonce stays.
 */
async function releasableNonce(
  { db, relayerOf, runtimeOf }: TransactionsContext,
  transaction: Transaction,
): Promise<{ readonly address: string; readonly change: Partial<Transaction> } | undefined> {
  const { status, nonce, sourceAccount, relayerId } = transaction
  if (status !== 'pending' || nonce === undefined || sourceAccount === undefined) return undefined
  const relayer = await relayerOf(relayerId)
  if (relayer === undefined) return undefined
  const runtime = runtimeOf(relayer)
  if (runtime.chain.expiry === undefined || isExternallySigned(runtime, transaction)) return undefined
  const attempts = await findAttempts(db, [transaction])
  if (unprovenAttempts(attempts.get(transaction.id) ?? []).length > 0) return undefined
  return { address: sourceAccount, change: { sourceAccount: undefined, nonce: undefined } }
}

/**
 * Returns true if a transaction with a nonce has blocked its account for so long that a no-op must use the
 * nonce.
 */
export function isAbandoned({ stuckSince, purpose, nonce }: Transaction, now: number): boolean {
  if (stuckSince === undefined || nonce === undefined || purpose !== 'request') return false
  return now - stuckSince.getTime() >= ABANDON_AFTER_MS
}
