import type { Tx } from '../../database/schema.ts'
import { networkOf } from '../../relayers/network-of.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { openBook } from '../../spending/book.ts'
import type { Transaction } from '../model/transaction.ts'
import { limitedSpendersOf } from './spenders-of.ts'

/** Marks a transaction that the service itself sends for a relayer with limits, so that what it costs is counted. */
export function asOwn(relayer: Relayer, transaction: Transaction): Transaction {
  return limitedSpendersOf(relayer).length === 0 ? transaction : { ...transaction, isBudgeted: true }
}

/**
 * Begins to count transactions of the service itself. Their fees follow when they are signed. No limit is asked: others wait for them.
 */
export async function chargeOwn(
  tx: Tx,
  relayer: Relayer,
  { transactions, now }: { readonly transactions: readonly Transaction[]; readonly now: Date },
): Promise<void> {
  const spenders = limitedSpendersOf(relayer)
  if (spenders.length === 0 || transactions.length === 0) return
  const charge = { network: networkOf(relayer), amounts: [], fees: 0n }
  const book = await openBook(tx, { spenders, network: charge.network, now })
  for (const { id } of transactions) book.take({ transactionId: id, spenders, charge })
  await book.save()
}
