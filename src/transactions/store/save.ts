import { tellFinished } from '../model/observer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { saveTransactions } from './transactions-store.ts'

/** `saveTransactions` in a database transaction of its own; the observer hears of it after the commit. */
export async function saveAlone(
  context: TransactionsContext,
  transactions: readonly Transaction[],
): Promise<Transaction[]> {
  const saved = await context.db.transaction().execute((tx) => saveTransactions(tx, transactions))
  tellFinished(context, saved)
  return saved
}
