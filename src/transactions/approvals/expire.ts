import { appendEntries } from '../../audit/append-store.ts'
import { chainOf, SERVICE } from '../../audit/entry.ts'
import { auditedDecision } from '../model/audited-transaction.ts'
import { reportFinished } from '../model/observer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { ENDED_UNSIGNED } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { findTransaction } from '../store/read-store.ts'
import { saveTransactions } from '../store/transactions-store.ts'
import { findLateApprovals, type LateApproval, saveDecision } from './approvals-store.ts'

/** The most transactions in one round; the next round takes the others. */
const MAX_TRANSACTIONS = 200

/** Ends the transactions that waited for an approval and did not get it in time. A crash before it loses nothing: the next round ends them. */
export async function expireApprovals(context: TransactionsContext): Promise<void> {
  const now = new Date(context.clock.now())
  for (const late of await findLateApprovals(context.db, now, MAX_TRANSACTIONS))
    await expire(context, late, now)
}

/** Changes nothing when somebody decided meanwhile: every write is guarded by the version that was read. */
async function expire(
  context: TransactionsContext,
  { transactionId: id, relayerId }: LateApproval,
  now: Date,
): Promise<void> {
  const item = await findTransaction(context.db, relayerId, id)
  if (item?.transaction.awaitsApproval !== true) return
  const { transaction } = item
  const expired = {
    ...transaction,
    ...ENDED_UNSIGNED,
    status: nextStatus(transaction.status, 'expired'),
    statusReason: 'Nobody approved it in time; nothing was signed.',
  }
  const { db, reservations } = context
  const saved = await db.transaction().execute(async (tx) => {
    const written = await saveTransactions({ tx, reservations }, [expired])
    if (written.length === 0) return written
    await saveDecision(tx, id, { decision: 'expired', decidedAt: now })
    const entry = auditedDecision(transaction, {
      author: SERVICE,
      action: 'expireApproval',
      decision: 'expired',
    })
    await appendEntries(tx, chainOf(relayerId), [entry])
    return written
  })
  reportFinished(context, saved)
}
