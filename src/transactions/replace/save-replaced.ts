import type { TransactionsContext } from '../model/runtime.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { saveAlone } from '../store/save.ts'

/** The transaction as it now is, and what was decided on the way. */
export interface Replaced extends TransactionWithAttempts {
  readonly logs: readonly string[]
}

/** Nothing is written, and undefined returned, where somebody else was faster. */
export async function saveReplaced(
  context: TransactionsContext,
  replaced: Replaced,
): Promise<Replaced | undefined> {
  const [saved] = await saveAlone(context, [replaced.transaction])
  return saved && { ...replaced, transaction: saved }
}
