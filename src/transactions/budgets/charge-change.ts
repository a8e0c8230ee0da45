import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../database/schema.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { openBook, requireAllowed } from '../../spending/book.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { purchaseOf } from './purchase-of.ts'
import { limitedSpendersOf } from './spenders-of.ts'

interface Replacing {
  readonly relayer: Relayer
  readonly actor: Actor
}

/** Returns true when whoever replaces a transaction, or its relayer, has a limit. */
export function isLimited({ relayer, actor }: Replacing): boolean {
  return limitedSpendersOf(relayer, actor).length > 0
}

/**
 * Charges what the new content of a transaction can cost more than what was charged before. Until the chain decides, whoever sent the earlier
 * content keeps its charge, because either of them can be included. Call it in the database transaction that stores the content.
 * @throws AppError `rule_violated`; nothing may be stored then
 */
export async function chargeChange(
  { clock, runtimeOf }: TransactionsContext,
  tx: Tx,
  { replacing, transaction }: { readonly replacing: Replacing; readonly transaction: Transaction },
): Promise<void> {
  const purchase = purchaseOf(runtimeOf(replacing.relayer), replacing, transaction)
  if (purchase === undefined) return
  const { spenders, charge, transactionId } = purchase
  const book = await openBook(tx, {
    spenders,
    network: charge.network,
    now: new Date(clock.now()),
    transactionIds: [transactionId],
  })
  requireAllowed(book.evaluate(purchase))
  book.take(purchase)
  await book.save()
}
