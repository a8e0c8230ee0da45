import type { ContentReader } from '../../chains/capabilities.ts'
import type { Chain } from '../../chains/chain.ts'
import { transact } from '../../database/locks/transact.ts'
import { type Spent, ZERO_SPENT } from '../../spending/budget.ts'
import { type Holding, newest, release } from '../../spending/holding.ts'
import {
  deleteOldSpendings,
  findUnsettled,
  lockBudgets,
  saveHoldings,
} from '../../spending/spending-store.ts'
import { hasLaterContent, movesNothing } from '../model/attempts.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { isFinal } from '../model/transitions.ts'
import { findTransactions } from '../store/lookups-store.ts'

/**
 * The maximum number of transactions of one relayer in one round, and so in one database transaction; the next round takes the others. More
 * would hold the locks of the budgets for longer than a request may wait for them.
 */
const MAX_TRANSACTIONS = 200

/** The longest rolling period and its longest step, with a day to spare, in ms. */
const KEPT_MS = 32 * 24 * 60 * 60_000

/**
 * Releases what transactions did not spend, once the chain has decided. It uses only the stored state, so a crash before it loses nothing,
 * and repeating it changes nothing.
 */
export async function releaseBudgets(context: TransactionsContext): Promise<void> {
  const { db } = context
  for (const [relayerId, ids] of await findUnsettled(db, MAX_TRANSACTIONS)) {
    const relayer = await context.relayerOf(relayerId)
    // It was just deleted, or cannot act now.
    if (relayer === undefined) continue
    const { chain } = context.runtimeOf(relayer)
    await releaseTransactions(context, { chain, relayerId, ids })
  }
}

/** Deletes what no period counts. */
export async function deleteOldBudgets({ db, clock }: TransactionsContext): Promise<void> {
  await deleteOldSpendings(db, new Date(clock.now() - KEPT_MS))
}

interface Unsettled {
  readonly chain: Chain
  readonly relayerId: string
  readonly ids: readonly string[]
}

async function releaseTransactions(
  { db }: TransactionsContext,
  { chain, relayerId, ids }: Unsettled,
): Promise<void> {
  await transact(db, async (tx) => {
    const locked = await lockBudgets(tx, { transactionIds: ids })
    // Read under the locks: since they were found, another process may have settled them, or a reorganisation may have reopened them.
    const items = await findTransactions(tx, relayerId, ids)
    const final = new Map(
      items
        .filter(({ transaction }) => isFinal(transaction.status) && transaction.reorganizedAt === undefined)
        .map((item) => [item.transaction.id, item]),
    )
    const isNewest = new Set(newest(locked))
    const changes = locked.flatMap((holding) => {
      const item = final.get(holding.transactionId)
      if (item === undefined || holding.settled) return []
      // The chain has one version at most, and the proofs say that it is not an earlier one.
      return [release(holding, isNewest.has(holding) ? amountTakenBy(holding, item, chain) : ZERO_SPENT)]
    })
    await saveHoldings(tx, changes)
  })
}

/** Returns what a final transaction took in the asset of a holding. Pure. */
export function amountTakenBy(
  { asset, most }: Holding,
  { transaction, attempts }: TransactionWithAttempts,
  chain: ContentReader & Pick<Chain, 'trustedChain'>,
): Spent {
  const included = attempts.find(({ number }) => number === transaction.currentAttempt)
  // It was signed with another database, as an operator has decided, so that only the most is known.
  if (included === undefined && transaction.status === 'confirmed') return most
  if (included === undefined || (included.outcome !== 'mined' && included.outcome !== 'reverted'))
    return ZERO_SPENT
  const isNative = most.count > 0
  const charged = chain.paidFee(included, transaction.from)
  const isUnexecuted = movesNothing(attempts, {
    number: included.number,
    isReverted: included.outcome === 'reverted',
  })
  // Without a fee from the operator's endpoints, the highest one counts, with what content of Solana pays for new accounts.
  const isTold =
    chain.trustedChain === undefined && (included.result?.feeCharged !== undefined || isUnexecuted)
  const known = isTold ? charged : undefined
  return {
    value: isUnexecuted
      ? 0n
      : contentValue({ asset, most }, { transaction, attempts }, { included: included.number, chain }),
    fees: isNative ? (known ?? most.fees) : 0n,
    count: isNative ? 1 : 0,
  }
}

/** The record has only the newest content, so for an older one the most counts. */
function contentValue(
  { asset, most }: Pick<Holding, 'asset' | 'most'>,
  { transaction, attempts }: TransactionWithAttempts,
  { included, chain }: { readonly included: number; readonly chain: Pick<ContentReader, 'effects'> },
): bigint {
  if (hasLaterContent({ transaction, attempts }, included)) return most.value
  const { amounts } = chain.effects(transaction.request, transaction.from)
  return amounts.find((amount) => amount.asset === asset)?.value ?? 0n
}
