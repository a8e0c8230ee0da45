import type { Transaction as DbTransaction } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import { networkId } from '../../networks/network.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { hasLimits, openBook } from '../../spending/book.ts'
import { subjectOfRelayer } from '../../spending/subject.ts'
import type { Transaction } from '../model/transaction.ts'

/** Marks the transactions that the service itself sends for a relayer with limits, so that what they cost is counted. */
export function asOwn(relayer: Relayer, transaction: Transaction): Transaction {
  return spenderOf(relayer) === undefined ? transaction : { ...transaction, isBudgeted: true }
}

/**
 * Begins to count transactions of the service itself. Their fees follow when they are signed. No limit is asked: others wait for them.
 */
export async function chargeOwn(
  tx: DbTransaction<Schema>,
  relayer: Relayer,
  { transactions, now }: { readonly transactions: readonly Transaction[]; readonly now: Date },
): Promise<void> {
  const spender = spenderOf(relayer)
  if (spender === undefined || transactions.length === 0) return
  const network = networkId({ type: relayer.networkType, name: relayer.network })
  const book = await openBook(tx, { spenders: [spender], network, now })
  for (const { id } of transactions)
    book.take({ transactionId: id, spenders: [spender], charge: { network, amounts: [], fees: 0n } })
  await book.save()
}

function spenderOf({ id, policies: { rules } }: Relayer) {
  const spender = rules && { subject: subjectOfRelayer(id), rules }
  return spender && hasLimits(spender) ? spender : undefined
}
