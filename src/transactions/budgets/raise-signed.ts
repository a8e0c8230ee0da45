import type { Transaction as DbTransaction } from 'kysely'
import type { Attempt } from '../../chains/attempt.ts'
import { NATIVE, nativeIn } from '../../chains/effects.ts'
import type { Schema } from '../../database/schema.ts'
import { hasLimits } from '../../spending/book.ts'
import { NOTHING } from '../../spending/budget.ts'
import { raise } from '../../spending/holding.ts'
import type { Spender } from '../../spending/rules.ts'
import { lockBudgets, saveHoldings } from '../../spending/spending-store.ts'
import { contentKind, isNoop } from '../model/purpose.ts'
import type { RelayerRuntime } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { feesIn } from './charge-of.ts'

/** A transaction, and the attempt that was just signed for it. */
interface SignedNow {
  readonly transaction: Transaction
  readonly attempt: Attempt
  /** With the new one. */
  readonly attempts: readonly Attempt[]
}

interface Raising {
  readonly signed: readonly SignedNow[]
  /** The spenders that the same database transaction charges afterwards; see `lockBudgets`. */
  readonly payers?: readonly Spender[] | undefined
}

/**
 * Counts what an attempt can cost more than the ones before it: a higher fee, or the fee of a no-op. The budget is never asked, because a
 * transaction that waits for a budget would block all that come after it.
 */
export async function raiseSigned(
  tx: DbTransaction<Schema>,
  { chain }: RelayerRuntime,
  { signed, payers = [] }: Raising,
): Promise<void> {
  const budgeted = signed.filter(({ transaction }) => transaction.isBudgeted)
  if (budgeted.length === 0) return
  const byId = new Map(budgeted.map((item) => [item.transaction.id, item]))
  const held = await lockBudgets(tx, {
    subjects: payers.filter(hasLimits).map(({ subject }) => subject),
    transactionIds: [...byId.keys()],
  })
  const changes = held.flatMap((holding) => {
    const item = byId.get(holding.transactionId)
    if (item === undefined || holding.asset !== NATIVE) return []
    const { transaction, attempt, attempts } = item
    const kind = contentKind(attempts, attempt.number)
    const { amounts } = chain.effects(transaction.request, transaction.from)
    const value = kind !== undefined && isNoop(kind) ? 0n : nativeIn(amounts)
    const fees = feesIn(chain.cost(attempt.draft), value)
    return raise(holding, { ...NOTHING, fees, count: 1 }, attempt.signedAt) ?? []
  })
  await saveHoldings(tx, changes)
}
