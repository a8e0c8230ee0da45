import type { TransactionsContext } from './context.ts'
import { saveAlone } from './save.ts'
import type { TransactionWithAttempts } from './transaction.ts'

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
