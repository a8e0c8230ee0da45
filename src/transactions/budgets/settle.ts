import type { ContentReader } from '../../chains/capabilities.ts'
import type { Chain } from '../../chains/chain.ts'
import { transact } from '../../database/locks/transact.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { type Spent, ZERO_SPENT } from '../../spending/budget.ts'
import type { Holding } from '../../spending/holding.ts'
import { openLedger } from '../../spending/ledger.ts'
import { deleteOldSpendings, findUnsettled } from '../../spending/spending-store.ts'
import { hasLaterContent, movesNothing } from '../model/attempts.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { isFinal } from '../model/transitions.ts'
import { findTransactions } from '../store/lookups-store.ts'

/**
 * The maximum number of transactions of one relayer in one round, and so in one database transaction; the
 * next round takes the others. More would hold the locks of the budgets for longer than a request may wait
 * for them.
 */
const MAX_TRANSACTIONS = 200

/** The longest rolling period and its longest step, with a day to spare, in ms. */
const KEPT_MS = 32 * 24 * 60 * 60_000

/**
 * Releases what transactions did not spend, once the chain has decided. It uses only the stored state, so a
 * crash before it loses nothing, and repeating it changes nothing.
 */
export async function releaseBudgets(context: TransactionsContext): Promise<void> {
  const { db } = context
  for (const [relayerId, ids] of await findUnsettled(db, MAX_TRANSACTIONS)) {
    const relayer = await context.relayerOf(relayerId)
    // It was just deleted, or cannot act now.
    if (relayer === undefined) continue
    await releaseTransactions(context, relayer, ids)
  }
}

/** Deletes what no period counts. */
export async function deleteOldBudgets({ db, clock }: TransactionsContext): Promise<void> {
  await deleteOldSpendings(db, new Date(clock.now() - KEPT_MS))
}

async function releaseTransactions(
  { db, clock, runtimeOf }: TransactionsContext,
  relayer: Relayer,
  ids: readonly string[],
): Promise<void> {
  const { chain } = runtimeOf(relayer)
  const now = new Date(clock.now())
  await transact(db, async (tx) => {
    const ledger = await openLedger(tx, { now, transactionIds: ids })
    // Read under the locks: since they were found, another process may have settled them, or a reorganisation
    // may have reopened them.
    for (const item of await findTransactions(tx, relayer.id, ids)) {
      const { id, status, reorganizedAt } = item.transaction
      if (!isFinal(status) || reorganizedAt !== undefined) continue
      ledger.settle(id, (holding) => amountTakenBy(holding, item, chain))
    }
    await ledger.save()
  })
}

/** Returns what a final transaction took in the asset of a holding. Pure. */
export function amountTakenBy(
  { asset, most }: Holding,
  { transaction, attempts }: TransactionWithAttempts,
  chain: ContentReader & Pick<Chain, 'trustedChain'>,
): Spent {
  const { request, from, currentAttempt, status } = transaction
  const included = attempts.find(({ number }) => number === currentAttempt)
  // It was signed with another database, as an operator has decided, so that only the most is known.
  if (included === undefined && status === 'confirmed') return most
  if (included === undefined || (included.outcome !== 'mined' && included.outcome !== 'reverted'))
    return ZERO_SPENT
  const { number, outcome, result } = included
  const isUnexecuted = movesNothing(attempts, { number, isReverted: outcome === 'reverted' })
  const contentValue = () => {
    // The record has only the newest content, so for an older one the most counts.
    if (hasLaterContent({ transaction, attempts }, number)) return most.value
    return chain.effects(request, from).amounts.find((amount) => amount.asset === asset)?.value ?? 0n
  }
  const isNative = most.count > 0
  // Without a fee from the operator's endpoints, the highest one counts, with what content of Solana pays for
  // new accounts.
  const isTold = chain.trustedChain === undefined && (result?.feeCharged !== undefined || isUnexecuted)
  const charged = isTold ? chain.paidFee(included, from) : undefined
  return {
    value: isUnexecuted ? 0n : contentValue(),
    fees: isNative ? (charged ?? most.fees) : 0n,
    count: isNative ? 1 : 0,
  }
}
