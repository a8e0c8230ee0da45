import type { Attempt } from '../../chains/attempt.ts'
import type { RelayerRuntime, TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { findHashOwners } from '../store/attempts-store.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'

/** How long until bytes that exist already are prepared anew, in ms: by then there is another blockhash. */
const AGAIN_MS = 1_000

interface Signed {
  readonly transaction: Transaction
  readonly attempt: Attempt
}

/**
 * Without nonces, two requests with the same content can come to the very same bytes, which the network executes once. Nobody
 * may think that it was done twice: those whose hash belongs to another transaction already are signed again, with other
 * bytes, or fail where only somebody else could do that. Returns the others.
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
    const statusReason = `Transaction ${owner} has the very same bytes; it is signed with another blockhash.`
    return { ...transaction, statusReason, nextRunAt: new Date(now + AGAIN_MS) }
  }
  const status = nextStatus(transaction.status, 'failed')
  const statusReason = `The same signed transaction was accepted before, as ${owner}.`
  return { ...transaction, status, statusReason, cost: 0n }
}
