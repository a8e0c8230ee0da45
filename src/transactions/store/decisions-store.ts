import type { Selectable } from 'kysely'
import { appendEntries } from '../../audit/append-store.ts'
import { type Author, auditLogOf } from '../../audit/entry.ts'
import type { Db, Tx } from '../../database/db.ts'
import { storableText } from '../../database/sql-helpers.ts'
import type { OperatorDecisionsTable } from '../../database/tables/transactions.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { Transaction } from '../model/transaction.ts'

/** The decision of an operator about what the database and the endpoints cannot know. */
export interface OperatorDecision {
  readonly transactionId: string
  readonly included: boolean
  /**
   * Number of the attempt that was included; undefined if none was, or none of those that the database has.
   */
  readonly attempt: number | undefined
  /** The hash of what was included, where no attempt has it; undefined if it is unknown. */
  readonly hash: string | undefined
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

/** The statuses in which a transaction can wait for a decision. */
export const NOT_FINAL: readonly string[] = ['sent', 'submitted']

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

/** A transaction that a decision is about, locked until the end of the database transaction. */
export interface Decidable {
  readonly relayerId: string
  readonly status: string
  readonly undecidedSince: Date | null
  /** The account signs: it is neither paused nor disabled. */
  readonly signs: boolean
}

/** Finds the relayer of a transaction; undefined if there is no such transaction. */
export async function relayerIdOf(db: Db, id: string): Promise<string | undefined> {
  const row = await db.selectFrom('transactions').select('relayer_id').where('id', '=', id).executeTakeFirst()
  return row?.relayer_id
}

/**
 * Locks a transaction for a decision; undefined if there is none. The order of locks:
 * database/locks/lock-order.md.
 */
export async function lockForDecision(tx: Tx, id: string): Promise<Decidable | undefined> {
  const row = await tx
    .selectFrom('transactions')
    .select(['relayer_id', 'status', 'undecided_since'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) return undefined
  const active = await tx
    .selectFrom('relayers')
    .select('id')
    .where('id', '=', row.relayer_id)
    .where('removed_at', 'is', null)
    .where((eb) => eb.and([eb('paused', '=', false), eb('system_disabled', '=', false)]))
    .executeTakeFirst()
  return {
    relayerId: row.relayer_id,
    status: row.status,
    undecidedSince: row.undecided_since,
    signs: active !== undefined,
  }
}

/** Stores a decision with its entry in the audit log. Call it last, as `appendEntries`. */
export async function insertDecision(
  tx: Tx,
  decision: OperatorDecision,
  { about, author }: { readonly about: Decidable; readonly author: Author },
): Promise<void> {
  const { transactionId, included, attempt, hash, reason, decidedBy } = decision
  await tx
    .insertInto('operator_decisions')
    .values({
      transaction_id: transactionId,
      decision: included ? 'included' : 'not_included',
      attempt: attempt ?? null,
      hash: hash ?? null,
      undecided_since: about.undecidedSince,
      reason: storableText(reason),
      decided_by: storableText(decidedBy),
    })
    .execute()
  const target = { type: 'transaction', id: transactionId } as const
  const after = omitUndefined({ included, attempt, hash, reason, decided_by: decidedBy })
  const entry = { author, action: 'decideTransaction', target, after } as const
  await appendEntries(tx, auditLogOf(about.relayerId), [entry])
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
  const present = rows.filter((row) => incidents.get(row.transaction_id) === row.undecided_since?.getTime())
  return new Map(present.map((row) => [row.transaction_id, toDecision(row)]))
}

function toDecision(row: Selectable<OperatorDecisionsTable>): OperatorDecision {
  return {
    transactionId: row.transaction_id,
    included: row.decision === 'included',
    attempt: row.attempt ?? undefined,
    hash: row.hash ?? undefined,
    reason: row.reason,
    decidedBy: row.decided_by,
  }
}
