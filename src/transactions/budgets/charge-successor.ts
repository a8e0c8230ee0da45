import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { networkOf, type Relayer } from '../../relayers/relayer.ts'
import { openLedger, refusalIn } from '../../spending/book.ts'
import { awaitsCharge } from '../../spending/holding.ts'
import { findHoldings } from '../../spending/spending-store.ts'
import { isNoop } from '../model/attempts.ts'
import type { LeasedAccount, TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'
import { markStuck } from '../watch/stuck.ts'
import { chargeOf } from './charge.ts'
import { limitedAmong } from './raise-signed.ts'

/** Time in ms until the budgets are checked again for a version that they did not allow. They change within hours. */
const RETRY_MS = 30_000

/**
 * Charges the budgets again for what is signed next, where only one endpoint, or an operator, says that the version before it was not included: both could be
 * executed, so both count until the transaction is final. Returns the transactions that may be signed. What the budgets do not allow waits, and others
 * overtake it.
 */
export async function chargeSuccessors(
  context: TransactionsContext,
  leased: LeasedAccount,
  transactions: readonly Transaction[],
): Promise<Transaction[]> {
  const signedBefore = transactions.filter(({ isBudgeted, version }) => isBudgeted && version > 1)
  if (signedBefore.length === 0) return [...transactions]
  const holdings = await findHoldings(
    context.db,
    signedBefore.map(({ id }) => id),
  )
  const byId = Map.groupBy(holdings, ({ transactionId }) => transactionId)
  const refused = new Set<string>()
  for (const transaction of signedBefore) {
    if (!awaitsCharge(byId.get(transaction.id) ?? [])) continue
    if (!(await chargeSuccessor(context, leased, transaction))) refused.add(transaction.id)
  }
  return transactions.filter(({ id }) => !refused.has(id))
}

/** Returns false when a budget does not allow it. */
async function chargeSuccessor(
  context: TransactionsContext,
  { relayer, runtime: { chain } }: LeasedAccount,
  transaction: Transaction,
): Promise<boolean> {
  const { id, request, from, cost, nonce, purpose, stuckSince } = transaction
  const now = new Date(context.clock.now())
  const amounts = isNoop(purpose) ? [] : chain.effects(request, from).amounts
  const charge = chargeOf(relayer, { effects: { amounts }, cost })
  // With a nonce it holds up the others, so it cannot wait.
  const charging = { relayer, id, charge, now, mayWait: nonce === undefined }
  const refused = await transact(context.db, (tx) => takeCharge(tx, charging))
  if (refused === undefined) return true
  const waiting = {
    ...transaction,
    statusReason: `Waiting for a budget: only one endpoint or an operator says that its earlier version was not included, so it counts again. ${refused}`,
    nextRunAt: new Date(now.getTime() + RETRY_MS),
  }
  if (stuckSince === undefined) await markStuck(context, waiting)
  else await saveInOwnTransaction(context, [waiting])
  return false
}

interface Charging {
  readonly relayer: Relayer
  readonly id: string
  readonly charge: ReturnType<typeof chargeOf>
  readonly now: Date
  readonly mayWait: boolean
}

/** Returns the sentence about the first budget that does not allow it; undefined if it is charged. */
async function takeCharge(
  tx: Tx,
  { relayer, id, charge, now, mayWait }: Charging,
): Promise<string | undefined> {
  const spenders = await limitedAmong(tx, relayer, await findHoldings(tx, [id]))
  if (spenders.length === 0) return undefined
  const book = await openLedger(tx, { spenders, network: networkOf(relayer), now, transactionIds: [id] })
  const purchase = { transactionId: id, spenders, charge }
  const refused = mayWait ? refusalIn(book.evaluate(purchase)) : undefined
  if (refused !== undefined) return refused.detail
  book.take(purchase)
  await book.save()
  return undefined
}
