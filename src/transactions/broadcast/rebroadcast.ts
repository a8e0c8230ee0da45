import type { LeasedAccount, TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { broadcastCurrent, settleAsKnown } from './broadcast.ts'

/**
 * `due`: signed bytes that no node took yet, and bytes that a pool may have lost: the same bytes again, in nonce order. A pool
 * that still knows the first of what it took is taken to know the rest, so what waits in it costs one call for each
 * account, not one for each transaction. What it lost all the same is noticed when it has become the first.
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
    await broadcastCurrent(context, leased.runtime, items) // Nothing stands behind another.
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
  const [offered] = await broadcastCurrent(context, runtime, [item])
  return offered?.result.kind === 'accepted' && offered.result.known === true
}
