import type { RelayerRuntime, TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'

/**
 * Stores, before any bytes leave, that transactions of a private relayer are private, and the newest block before their first private
 * broadcast. After a crash at any line they are private all the same, and the blocks are counted from before the broadcast at the latest.
 * Returns the transactions that may be broadcast now, without those that changed meanwhile. An unknown head keeps nothing back: a later
 * broadcast stores the block, so that the transaction stays private for longer.
 */
export async function markPrivate(
  context: TransactionsContext,
  { chain, isPrivate }: RelayerRuntime,
  items: readonly TransactionWithAttempts[],
): Promise<readonly TransactionWithAttempts[]> {
  const canBroadcast = chain.privateBroadcast !== undefined
  const lacksMark = ({ transaction }: TransactionWithAttempts) => isPrivate && transaction.isPrivate !== true
  const lacksBlock = ({ transaction }: TransactionWithAttempts) =>
    canBroadcast &&
    (isPrivate || transaction.isPrivate === true) &&
    transaction.privateSinceBlock === undefined
  if (!items.some((item) => lacksMark(item) || lacksBlock(item))) return items
  const head = items.some(lacksBlock) ? await chain.head() : undefined
  const block = head?.kind === 'ok' ? head.value.number : undefined
  const changed = items.filter((item) => lacksMark(item) || (lacksBlock(item) && block !== undefined))
  const saved = await saveInOwnTransaction(
    context,
    changed.map((item) => ({
      ...item.transaction,
      isPrivate: true,
      privateSinceBlock: lacksBlock(item) ? block : item.transaction.privateSinceBlock,
    })),
  )
  return withSaved(items, { changed, saved })
}

function withSaved(
  items: readonly TransactionWithAttempts[],
  {
    changed,
    saved,
  }: { readonly changed: readonly TransactionWithAttempts[]; readonly saved: readonly Transaction[] },
): TransactionWithAttempts[] {
  const byId = new Map(saved.map((transaction) => [transaction.id, transaction]))
  return items.flatMap((item) => {
    if (!changed.includes(item)) return [item]
    const transaction = byId.get(item.transaction.id)
    return transaction === undefined ? [] : [{ ...item, transaction }]
  })
}
