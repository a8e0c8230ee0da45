import type { ChainRequest } from '../../chains/chain.ts'
import { shortOfFunds } from '../../relayers/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'
import { reservedBy } from '../store/work-store.ts'

/** What a caller wants in the place of a transaction. */
export interface Change {
  readonly relayer: Relayer
  readonly id: string
  /** Absent for a cancellation. */
  readonly request?: ChainRequest
}

/** The transaction as it now is, and what was decided on the way. */
export interface Replaced extends TransactionWithAttempts {
  readonly logs: readonly string[]
}

/** Nothing is written, and undefined returned, where somebody else was faster. */
export async function saveReplaced(
  context: TransactionsContext,
  replaced: Replaced,
): Promise<Replaced | undefined> {
  const [saved] = await saveInOwnTransaction(context, [replaced.transaction])
  return saved && { ...replaced, transaction: saved }
}

/**
 * The replaced attempt's own reservation is not counted: only one of them can ever be included.
 * @throws AppError 400 when the account cannot pay; nodes that do not answer stop nobody
 */
export async function checkReplacementFunds(
  context: TransactionsContext,
  { relayer, id, cost }: { relayer: Relayer; id: string; cost: bigint },
): Promise<void> {
  const reserved = await reservedBy(context.db, relayer.id, id)
  const { chain } = context.runtimeOf(relayer)
  const balance = await chain.balance(relayer.address)
  const { unit } = chain
  const short =
    balance.kind === 'ok'
      ? shortOfFunds(relayer, { unit, balance: balance.value, reserved, cost })
      : undefined
  if (short) throw short
}
