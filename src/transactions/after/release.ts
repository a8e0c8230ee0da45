import type { After } from '../model/after.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { ENDED_UNSIGNED, type Transaction } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { findTransaction } from '../store/lookups-store.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'
import { findLateWaiting, findPredecessors, type Waiting } from './after-store.ts'
import { afterFailedReason, evaluateAfter, type Predecessor } from './predecessor.ts'

/** The most transactions that one round ends because their time is over; the next round takes the others. */
const MAX_LATE = 200

interface Released {
  /** The number of those that no longer wait. */
  readonly changed: number
  /** Those that another writer changed meanwhile, which have to be looked at again. */
  readonly conflicting: readonly Waiting[]
}

/**
 * Decides about transactions that wait for another one. Each is written by itself, guarded by the version
 * that was read: a second writer, after a crash or in another process, changes nothing.
 */
export async function releaseWaiting(
  context: TransactionsContext,
  waiting: readonly Waiting[],
): Promise<Released> {
  const conflicting: Waiting[] = []
  let changed = 0
  for (const one of waiting) {
    const outcome = await release(context, one)
    if (outcome === 'changed') changed += 1
    if (outcome === 'conflict') conflicting.push(one)
  }
  return { changed, conflicting }
}

async function release(
  context: TransactionsContext,
  { id, relayerId }: Waiting,
): Promise<'unchanged' | 'changed' | 'conflict'> {
  const { db, clock } = context
  const transaction = (await findTransaction(db, relayerId, id))?.transaction
  const { after, awaitsTransaction } = transaction ?? {}
  if (transaction === undefined || after === undefined || awaitsTransaction === undefined) return 'unchanged'
  const predecessor = (await findPredecessors(db, [awaitsTransaction])).get(awaitsTransaction)
  const outcome = evaluateAfter(after, predecessor)
  if (outcome === 'wait') return 'unchanged'
  const now = new Date(clock.now())
  const next =
    outcome === 'release' ? released(transaction, now) : canceledAfter(transaction, { after, predecessor })
  return (await saveInOwnTransaction(context, [next])).length > 0 ? 'changed' : 'conflict'
}

/** The estimate is older than what it waited for, so it is simulated again before it is signed. */
function released(transaction: Transaction, now: Date): Transaction {
  const { status, statusReason, awaitsApproval } = transaction
  return {
    ...transaction,
    awaitsTransaction: undefined,
    status: nextStatus(status, 'released'),
    // A transaction that also waits for an approval says so.
    statusReason: awaitsApproval === true ? statusReason : undefined,
    estimatedGas: undefined,
    releasedAt: now,
    nextRunAt: now,
  }
}

function canceledAfter(
  transaction: Transaction,
  { after, predecessor }: { readonly after: After; readonly predecessor: Predecessor | undefined },
): Transaction {
  return {
    ...transaction,
    ...ENDED_UNSIGNED,
    status: nextStatus(transaction.status, 'canceled'),
    statusReason: afterFailedReason(after, predecessor),
  }
}

/** Ends the transactions whose `valid_until` passed while they waited for another one. */
export async function expireWaiting(context: TransactionsContext): Promise<void> {
  const { db, clock } = context
  for (const { id, relayerId } of await findLateWaiting(db, new Date(clock.now()), MAX_LATE)) {
    const transaction = (await findTransaction(db, relayerId, id))?.transaction
    if (transaction?.awaitsTransaction === undefined) continue
    const expired: Transaction = {
      ...transaction,
      ...ENDED_UNSIGNED,
      status: nextStatus(transaction.status, 'expired'),
      statusReason: `valid_until passed while it waited for transaction ${transaction.awaitsTransaction}; nothing was signed.`,
    }
    await saveInOwnTransaction(context, [expired])
  }
}
