import type { Attempt } from '../../chains/attempt.ts'
import type { RelayerRuntime, TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { findHashOwners } from '../store/attempts-store.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'

/** Time in ms until a duplicate is signed again: by then there is another blockhash. */
const RE_SIGN_MS = 1_000

interface Signed {
  readonly transaction: Transaction
  readonly attempt: Attempt
}

/**
 * Removes duplicates on chains without nonces. There, two requests with the same content can result in the same bytes, which the network
 * executes once, so only one of them may own the bytes. A duplicate is signed again with another blockhash, or fails if a third party
 * signed it. Returns the other items.
 */
export async function withoutDuplicates<T extends Signed>(
  context: TransactionsContext,
  { chain }: RelayerRuntime,
  signed: readonly T[],
): Promise<T[]> {
  if (chain.sequencing || signed.length === 0) return [...signed]
  const { db, clock } = context
  const owners = await findHashOwners(
    db,
    signed.map(({ attempt }) => attempt.signed.hash),
  )
  const kept: T[] = []
  const duplicates: Transaction[] = []
  for (const item of signed) {
    const { transaction, attempt } = item
    const owner = owners.get(attempt.signed.hash) ?? transaction.id
    owners.set(attempt.signed.hash, owner)
    if (owner === transaction.id) kept.push(item)
    else
      duplicates.push(
        settled(transaction, chain.expiry?.reSignable(transaction.request) ?? true, {
          owner,
          now: clock.now(),
        }),
      )
  }
  if (duplicates.length > 0) await saveInOwnTransaction(context, duplicates)
  return kept
}

function settled(
  transaction: Transaction,
  reSignable: boolean,
  { owner, now }: { readonly owner: string; readonly now: number },
): Transaction {
  if (reSignable) {
    const statusReason = `Transaction ${owner} has the same bytes; this one is signed with another blockhash.`
    return { ...transaction, statusReason, nextRunAt: new Date(now + RE_SIGN_MS) }
  }
  const status = nextStatus(transaction.status, 'failed')
  const statusReason = `The same signed transaction was accepted before, as ${owner}.`
  return { ...transaction, status, statusReason, cost: 0n }
}
