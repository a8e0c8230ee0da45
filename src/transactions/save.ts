import type { TransactionsContext } from './context.ts'
import { tellFinished } from './observer.ts'
import { saveTransactions } from './store.ts'
import type { Transaction } from './transaction.ts'

/** `saveTransactions` in a database transaction of its own; the observer hears of it after the commit. */
export async function saveAlone(
  context: TransactionsContext,
  transactions: readonly Transaction[],
): Promise<Transaction[]> {
  const saved = await context.db.transaction().execute((tx) => saveTransactions(tx, transactions))
  tellFinished(context, saved)
  return saved
}
