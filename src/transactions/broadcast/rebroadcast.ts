import type { HeldAccount, TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { broadcastCurrent, countAsKnown } from './broadcast.ts'

/**
 * `due`: signed bytes that no node took yet, and bytes that a pool may have lost: the same bytes again, in nonce order. A pool
 * that still knows the first of what it took is taken to know the rest, so what waits in it costs one call for each
 * account, not one for each transaction. What it lost all the same is noticed when it has become the first.
 */
export async function repeatBroadcasts(
  context: TransactionsContext,
  held: HeldAccount,
  due: readonly Transaction[],
): Promise<void> {
  if (due.length === 0) return
  const attempts = await findAttempts(context.db, due)
  const items = due.map((transaction) => ({ transaction, attempts: attempts.get(transaction.id) ?? [] }))
  const first = items.find(({ transaction }) => transaction.status === 'submitted')
  const others = items.filter((item) => item !== first)
  const { nonces, inFlightPerLine } = held.operator.chain.traits
  if (!nonces || inFlightPerLine === 1) {
    await broadcastCurrent(context, held.operator, items) // Nothing stands behind another.
    return
  }
  if (first === undefined || !(await isKnown(context, held, first))) {
    await broadcastCurrent(context, held.operator, others)
    return
  }
  const isTaken = ({ transaction }: TransactionWithAttempts) => transaction.status === 'submitted'
  await countAsKnown(context, held.operator, others.filter(isTaken))
  await broadcastCurrent(
    context,
    held.operator,
    others.filter((item) => !isTaken(item)),
  )
}

async function isKnown(
  context: TransactionsContext,
  { operator }: HeldAccount,
  item: TransactionWithAttempts,
): Promise<boolean> {
  const [offered] = await broadcastCurrent(context, operator, [item])
  return offered?.result.kind === 'accepted' && offered.result.known === true
}
