import type { ChainRequest } from '../../chains/chain.ts'
import { shortOfFunds } from '../../relayers/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'
import { reservedBy } from '../store/work-store.ts'

/** A replacement or cancellation that a caller requests. */
export interface Change {
  readonly relayer: Relayer
  readonly id: string
  /** Absent for a cancellation. */
  readonly request?: ChainRequest
}

/** The transaction in its present state, and sentences about the change for the caller. */
export interface Replaced extends TransactionWithAttempts {
  readonly logs: readonly string[]
}

/** Stores the changed transaction. Writes nothing and returns undefined when the record changed meanwhile. */
export async function saveReplaced(
  context: TransactionsContext,
  replaced: Replaced,
): Promise<Replaced | undefined> {
  const [saved] = await saveInOwnTransaction(context, [replaced.transaction])
  return saved && { ...replaced, transaction: saved }
}

/**
 * Checks that the account can pay for the replacement. The reservation of the replaced attempt is not counted, because only one of the two
 * can be included. Without an answer of the nodes there is no refusal (I6).
 * @throws AppError `insufficient_balance`
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
