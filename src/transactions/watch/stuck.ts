import { unprovenAttempts } from '../model/open-attempts.ts'
import { isExternallySigned, type TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { setNextNonce } from '../store/nonce-store.ts'
import { findQueueHeads } from '../store/queue-store.ts'
import { announceIncident, saveTransactions } from '../store/transactions-store.ts'

/**
 * How long a transaction may be the first of its account's queue before it counts as stuck, in ms: longer than the slowest speed waits before
 * its fee is raised (10 minutes), so that a queue in good order is never reported.
 */
export const STUCK_AFTER_MS = 900_000

/**
 * How long a stuck transaction with a nonce may hold up its account, in ms. Then a no-op takes the nonce and the transaction ends as
 * `failed`: nothing else can let the others through.
 */
export const ABANDON_AFTER_MS = 86_400_000

/** When each transaction was first seen as the head of a queue, by id, in ms since the epoch. Losing it costs time only. */
export type QueueHeads = Map<string, number>

/**
 * Looks which transactions have been the head of their queue for too long, and announces each once. What has no nonce yet steps aside: those
 * behind it are signed, and it is tried again whenever it is due. What has one is left to `isAbandoned`.
 */
export async function reportStuck(context: TransactionsContext, seen: QueueHeads): Promise<void> {
  const now = context.clock.now()
  const heads = await findQueueHeads(context.db)
  const ids = new Set(heads.map(({ id }) => id))
  for (const id of [...seen.keys()]) if (!ids.has(id)) seen.delete(id)
  for (const { id } of heads) if (!seen.has(id)) seen.set(id, now)
  const stuck = heads.filter(
    ({ id, stuckSince }) => stuckSince === undefined && now - (seen.get(id) ?? now) >= STUCK_AFTER_MS,
  )
  for (const transaction of stuck) await markStuck(context, transaction)
}

async function markStuck(context: TransactionsContext, transaction: Transaction): Promise<void> {
  const { db, clock, log } = context
  const freed = await releasableNonce(context, transaction)
  const { id, relayerId, statusReason } = transaction
  const marked = { ...transaction, ...freed?.change, stuckSince: new Date(clock.now()) }
  const saved = await db.transaction().execute(async (tx) => {
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
 * A nonce that is given and that nothing signed can use any more is given back, where the chain's content expires by itself: on
 * other chains nothing with a higher nonce could be included before it.
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

/** Whether a transaction with a nonce has held up its account for so long that a no-op has to take the nonce. */
export function isAbandoned({ stuckSince, purpose, nonce }: Transaction, now: number): boolean {
  if (stuckSince === undefined || nonce === undefined || purpose !== 'request') return false
  return now - stuckSince.getTime() >= ABANDON_AFTER_MS
}

/** What the record says of a transaction that was abandoned. */
export const ABANDONED =
  'It has held up the account for a day, and no block would include it; a no-op takes its nonce.'
