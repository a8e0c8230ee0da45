import type { Selectable } from 'kysely'
import { appendEntries } from '../../audit/append-store.ts'
import { type Author, auditLogOf } from '../../audit/entry.ts'
import type { Db } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { storableText } from '../../database/sql-helpers.ts'
import type { OperatorDecisionsTable } from '../../database/tables/transactions.ts'
import type { Transaction } from '../model/transaction.ts'

/** The decision of an operator about a transaction whose inclusion no endpoint can prove. */
export interface OperatorDecision {
  readonly transactionId: string
  /** Number of the attempt that was included; undefined if none was. */
  readonly attempt: number | undefined
  /** The operator's reason. */
  readonly reason: string
  readonly decidedBy: string
}

/** A transaction that waits for a decision. */
export interface UndecidedTransaction {
  readonly id: string
  readonly relayerId: string
  readonly status: string
  readonly statusReason: string | undefined
  readonly undecidedSince: Date
  readonly currentAttempt: number | undefined
}

const NOT_FINAL = ['sent', 'submitted']

/** Lists all transactions that wait for a decision, oldest first. */
export async function listUndecided(db: Db): Promise<UndecidedTransaction[]> {
  const rows = await db
    .selectFrom('transactions')
    .select(['id', 'relayer_id', 'status', 'status_reason', 'undecided_since', 'current_attempt'])
    .where('undecided_since', 'is not', null)
    .where('status', 'in', NOT_FINAL)
    .orderBy('undecided_since')
    .execute()
  return rows.flatMap((row) =>
    row.undecided_since === null
      ? []
      : [
          {
            id: row.id,
            relayerId: row.relayer_id,
            status: row.status,
            statusReason: row.status_reason ?? undefined,
            undecidedSince: row.undecided_since,
            currentAttempt: row.current_attempt ?? undefined,
          },
        ],
  )
}

/** The result of storing a decision. `unknown_attempt`: the transaction has no attempt with that number. */
export type DecisionOutcome = 'stored' | 'no_such_transaction' | 'not_undecided' | 'unknown_attempt'

/**
 * Stores a decision about a transaction that waits for one. The next watch round applies it, unless the chain shows something else by then.
 */
export async function storeDecision(
  db: Db,
  decision: OperatorDecision,
  author: Author,
): Promise<DecisionOutcome> {
  return transact(db, async (tx) => {
    // The order of locks: database/locks/lock-order.md.
    const row = await tx
      .selectFrom('transactions')
      .select(['relayer_id', 'status', 'undecided_since'])
      .where('id', '=', decision.transactionId)
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined) return 'no_such_transaction'
    if (row.undecided_since === null || !NOT_FINAL.includes(row.status)) return 'not_undecided'
    if (decision.attempt !== undefined) {
      const attempt = await tx
        .selectFrom('attempts')
        .select('number')
        .where('transaction_id', '=', decision.transactionId)
        .where('number', '=', decision.attempt)
        .executeTakeFirst()
      if (attempt === undefined) return 'unknown_attempt'
    }
    await tx
      .insertInto('operator_decisions')
      .values({
        transaction_id: decision.transactionId,
        decision: decision.attempt === undefined ? 'not_included' : 'included',
        attempt: decision.attempt ?? null,
        undecided_since: row.undecided_since,
        reason: storableText(decision.reason),
        decided_by: storableText(decision.decidedBy),
      })
      .execute()
    const target = { type: 'transaction', id: decision.transactionId } as const
    const { attempt, reason, decidedBy } = decision
    const after = { included: attempt !== undefined, attempt, reason, decided_by: decidedBy }
    const entry = { author, action: 'decideTransaction', target, after } as const
    await appendEntries(tx, auditLogOf(row.relayer_id), [entry])
    return 'stored'
  })
}

/** Reads the newest decision about the current incident of each transaction, by transaction id. */
export async function findDecisions(
  db: Db,
  transactions: readonly Pick<Transaction, 'id' | 'undecidedSince'>[],
): Promise<Map<string, OperatorDecision>> {
  const incidents = new Map(transactions.map(({ id, undecidedSince }) => [id, undecidedSince?.getTime()]))
  if (incidents.size === 0) return new Map()
  const rows = await db
    .selectFrom('operator_decisions')
    .selectAll()
    .where('transaction_id', 'in', [...incidents.keys()])
    .orderBy('id')
    .execute()
  const present = rows.filter((row) => incidents.get(row.transaction_id) === row.undecided_since.getTime())
  return new Map(present.map((row) => [row.transaction_id, toDecision(row)]))
}

function toDecision(row: Selectable<OperatorDecisionsTable>): OperatorDecision {
  return {
    transactionId: row.transaction_id,
    attempt: row.attempt ?? undefined,
    reason: row.reason,
    decidedBy: row.decided_by,
  }
}
