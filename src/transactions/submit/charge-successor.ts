import { transact } from '../../database/locks/transact.ts'
import { awaitsCharge } from '../../spending/holding.ts'
import { openLedger, refusalIn } from '../../spending/ledger.ts'
import { findHoldings } from '../../spending/spending-store.ts'
import { chargeOf } from '../budgets/charge.ts'
import { limitedPayersOf } from '../budgets/spenders.ts'
import { isNoop } from '../model/attempts.ts'
import type { LeasedAccount, TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'
import { markStuck } from '../watch/stuck.ts'

/**
 * Time in ms until the budgets are checked again for a version that they did not allow. They change within
 * hours.
 */
const RETRY_MS = 30_000

/**
 * Charges the budgets again for what is signed next, where only one endpoint, or an operator, says that the
 * version before it was not included: both could be executed, so both count until the transaction is final.
 * Returns the transactions that may be signed. What the budgets do not allow waits, and others overtake it.
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
  const refused = await transact(context.db, async (tx) => {
    const spenders = await limitedPayersOf(tx, relayer, [id])
    if (spenders.length === 0) return undefined
    const limits = { spenders, network: charge.network }
    const ledger = await openLedger(tx, { now, transactionIds: [id], limits })
    const purchase = { transactionId: id, spenders, charge }
    // With a nonce it holds up the others, so it cannot wait.
    const refusal = nonce === undefined ? refusalIn(ledger.evaluate(purchase)) : undefined
    if (refusal !== undefined) return refusal
    ledger.reserve(purchase)
    await ledger.save()
    return undefined
  })
  if (refused === undefined) return true
  const waiting = {
    ...transaction,
    statusReason: `Waiting for a budget: only one endpoint or an operator says that its earlier version was not included, so it counts again. ${refused.detail}`,
    nextRunAt: new Date(now.getTime() + RETRY_MS),
  }
  if (stuckSince === undefined) await markStuck(context, waiting)
  else await saveInOwnTransaction(context, [waiting])
  return false
}
