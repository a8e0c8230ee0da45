import type { BroadcastResult } from '../../chains/answer.ts'
import type { LeasedAccount, TransactionsContext } from '../model/runtime.ts'
import { WATCHED_MS } from '../model/speed-up-delay.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { postponeTransactions } from '../store/work-store.ts'
import { broadcastCurrent, isAwaitingExpiry, settleAsKnown } from './broadcast.ts'

/**
 * Broadcasts the same bytes of `due` again, in nonce order: bytes that no node accepted yet, and bytes that a mempool may have lost. If the
 * mempool still knows the first accepted one, it probably knows the others, so waiting transactions cost one call for each account and not
 * one for each transaction. A transaction that the mempool lost is found when it becomes the first. Returns the transaction that all nodes
 * know and keep queued, if there is one.
 */
export async function rebroadcastDue(
  context: TransactionsContext,
  leased: LeasedAccount,
  due: readonly Transaction[],
): Promise<TransactionWithAttempts | undefined> {
  if (due.length === 0) return undefined
  const attempts = await findAttempts(context.db, due)
  const { waiting = [], items = [] } = Object.groupBy(
    due.map((transaction) => ({ transaction, attempts: attempts.get(transaction.id) ?? [] })),
    (item) => (isAwaitingExpiry(leased.runtime, item) ? 'waiting' : 'items'),
  )
  await keepWatched(context, waiting)
  const first = items.find(({ transaction }) => transaction.status === 'submitted')
  const others = items.filter((item) => item !== first)
  const { sequencing } = leased.runtime.chain
  if (sequencing === undefined || sequencing.maxInFlight === 1) {
    await broadcastCurrent(context, leased.runtime, items) // No transaction waits for another.
    return undefined
  }
  const result = first && (await broadcastFirst(context, leased, first))
  if (result?.kind !== 'accepted' || result.known !== true) {
    await broadcastCurrent(context, leased.runtime, others)
    return undefined
  }
  // One pool tells nothing about private transactions: they are in none, or were made public at another time.
  const isAccepted = ({ transaction: { status, isPrivate } }: TransactionWithAttempts) =>
    status === 'submitted' && isPrivate !== true
  await settleAsKnown(context, leased.runtime, others.filter(isAccepted))
  await broadcastCurrent(
    context,
    leased.runtime,
    others.filter((item) => !isAccepted(item)),
  )
  return result.queuedInPool === true ? first : undefined
}

/** The watcher follows transactions whose bytes only have to expire. */
async function keepWatched(
  { db, clock }: TransactionsContext,
  waiting: readonly TransactionWithAttempts[],
): Promise<void> {
  const nextRunAt = new Date(clock.now() + WATCHED_MS)
  const postponed = waiting.map(({ transaction }) => ({ ...transaction, nextRunAt }))
  if (postponed.length > 0) await db.transaction().execute((tx) => postponeTransactions(tx, postponed))
}

async function broadcastFirst(
  context: TransactionsContext,
  { runtime }: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<BroadcastResult | undefined> {
  const [broadcasted] = await broadcastCurrent(context, runtime, [item])
  return broadcasted?.result
}
