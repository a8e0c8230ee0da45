import type { LeasedAccount, TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { broadcastCurrent, settleAsKnown } from './broadcast.ts'

/**
 * Broadcasts the same bytes of `due` again, in nonce order: bytes that no node accepted yet, and bytes that a mempool may have lost. If the
 * mempool still knows the first accepted one, it probably knows the others, so waiting transactions cost one call for each account and not
 * one for each transaction. A transaction that the mempool lost is found when it becomes the first.
 */
export async function rebroadcastDue(
  context: TransactionsContext,
  leased: LeasedAccount,
  due: readonly Transaction[],
): Promise<void> {
  if (due.length === 0) return
  const attempts = await findAttempts(context.db, due)
  const items = due.map((transaction) => ({ transaction, attempts: attempts.get(transaction.id) ?? [] }))
  const first = items.find(({ transaction }) => transaction.status === 'submitted')
  const others = items.filter((item) => item !== first)
  const { sequencing } = leased.runtime.chain
  if (sequencing === undefined || sequencing.maxInFlight === 1) {
    await broadcastCurrent(context, leased.runtime, items) // No transaction waits for another.
    return
  }
  if (first === undefined || !(await isKnown(context, leased, first))) {
    await broadcastCurrent(context, leased.runtime, others)
    return
  }
  const isAccepted = ({ transaction }: TransactionWithAttempts) => transaction.status === 'submitted'
  await settleAsKnown(context, leased.runtime, others.filter(isAccepted))
  await broadcastCurrent(
    context,
    leased.runtime,
    others.filter((item) => !isAccepted(item)),
  )
}

async function isKnown(
  context: TransactionsContext,
  { runtime }: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<boolean> {
  const [broadcasted] = await broadcastCurrent(context, runtime, [item])
  return broadcasted?.result.kind === 'accepted' && broadcasted.result.known === true
}
