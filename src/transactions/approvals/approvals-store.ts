import { type RawBuilder, type Selectable, sql } from 'kysely'
import { personWithId } from '../../access/people-store.ts'
import { seesEverything, type Visibility } from '../../access/principal.ts'
import { ofVisibleRelayer } from '../../access/visibility-store.ts'
import type { Person } from '../../audit/entry.ts'
import type { Db, Tx } from '../../database/db.ts'
import { storableText } from '../../database/sql-helpers.ts'
import type { ApprovalsTable } from '../../database/tables/transactions.ts'
import { oneOf } from '../../lib/exhaustive.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { RuleResult } from '../../spending/rule.ts'

/** An approval without a decision is over when its transaction no longer waits. */
const STATE = sql<string>`coalesce(approvals.decision,
  case when transactions.awaits_approval then 'waiting' else 'withdrawn' end)`

/** Stores new approvals, after their transactions. */
export async function insertApprovals(tx: Tx, approvals: readonly NewApproval[]): Promise<void> {
  if (approvals.length === 0) return
  await tx
    .insertInto('approvals')
    .values(
      approvals.map((approval) => ({
        transaction_id: approval.transactionId,
        relayer_id: approval.relayerId,
        requested_by: approval.requestedBy,
        reasons: JSON.stringify(approval.reasons),
        created_at: approval.createdAt,
        expires_at: approval.expiresAt,
      })),
    )
    .execute()
}

/** Finds the approval of a transaction; undefined if no rule required one. */
export async function findApproval(db: Db, transactionId: string): Promise<Approval | undefined> {
  const row = await selectApprovals(db).where('transaction_id', '=', transactionId).executeTakeFirst()
  return row && toApproval(row)
}

interface ListQuery {
  readonly visibility: Visibility
  readonly state?: ApprovalState | undefined
  readonly offset: number
  readonly limit: number
}

/** Lists the approvals of visible relayers, newest first. `total` counts all of them. */
export async function listApprovals(
  db: Db,
  { visibility, state, offset, limit }: ListQuery,
): Promise<{ items: Approval[]; total: number }> {
  const isMatch = matching(visibility, state)
  const { rows: counts } = await sql<{ total: bigint }>`
    select count(*) as total from approvals ${needsTransactions(state) ? JOINED : sql``} where ${isMatch}`.execute(
    db,
  )
  const total = Number(counts[0]?.total ?? 0n)
  if (limit === 0) return { items: [], total }
  const rows = await selectApprovals(db)
    .where(isMatch)
    .orderBy('approvals.created_at', 'desc')
    .orderBy('approvals.transaction_id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute()
  return { items: rows.map(toApproval), total }
}

const JOINED = sql`join transactions on transactions.id = approvals.transaction_id`

/** A decision is in the approval itself, so it is counted without the transactions. */
function needsTransactions(state: ApprovalState | undefined): boolean {
  return state === 'waiting' || state === 'withdrawn'
}

/** Builds the condition of a list. Each state has an index: of decisions, or of waiting transactions. */
function matching(visibility: Visibility, state: ApprovalState | undefined): RawBuilder<boolean> {
  const visible = seesEverything(visibility)
    ? sql<boolean>`true`
    : ofVisibleRelayer(visibility, 'approvals.relayer_id')
  if (state === undefined) return visible
  if (state === 'waiting') return sql`${visible} and transactions.awaits_approval`
  return state === 'withdrawn'
    ? sql`${visible} and approvals.decision is null and transactions.awaits_approval is not true`
    : sql`${visible} and approvals.decision = ${state}`
}

/** A transaction whose time to wait is over. */
export interface LateApproval {
  readonly transactionId: string
  readonly relayerId: string
}

/** Finds up to `limit` transactions that wait although their time is over. */
export async function findLateApprovals(db: Db, now: Date, limit: number): Promise<LateApproval[]> {
  const rows = await db
    .selectFrom('transactions')
    .innerJoin('approvals', 'approvals.transaction_id', 'transactions.id')
    .select(['approvals.transaction_id', 'approvals.relayer_id'])
    .where('transactions.awaits_approval', '=', true)
    .where('approvals.expires_at', '<=', now)
    .orderBy('approvals.expires_at')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ transactionId: row.transaction_id, relayerId: row.relayer_id }))
}

/** Stores the decision. Call it after the change of the transaction, in the same database transaction. */
export async function saveDecision(
  tx: Tx,
  transactionId: string,
  { decision, decidedAt, decidedBy, decisionReason }: DecisionRecord,
): Promise<void> {
  await tx
    .updateTable('approvals')
    .set({
      decision,
      decided_at: decidedAt,
      decided_by: decidedBy ?? null,
      decision_reason: decisionReason === undefined ? null : storableText(decisionReason),
    })
    .where('transaction_id', '=', transactionId)
    .execute()
}

/** Finds those of these transactions that were approved. */
export async function findApproved(db: Db, transactionIds: readonly string[]): Promise<Approval[]> {
  if (transactionIds.length === 0) return []
  const rows = await selectApprovals(db)
    .where('transaction_id', 'in', transactionIds)
    .where('approvals.decision', '=', 'approved')
    .execute()
  return rows.map(toApproval)
}

/** Makes approvals wait for another decision, after their transactions wait again. */
export async function reopenApprovals(
  tx: Tx,
  approvals: readonly Pick<NewApproval, 'transactionId' | 'createdAt' | 'expiresAt'>[],
): Promise<void> {
  for (const { transactionId, createdAt, expiresAt } of approvals)
    await tx
      .updateTable('approvals')
      .set({
        created_at: createdAt,
        expires_at: expiresAt,
        decision: null,
        decided_at: null,
        decided_by: null,
        decision_reason: null,
      })
      .where('transaction_id', '=', transactionId)
      .execute()
}

function selectApprovals(db: Db) {
  return db
    .selectFrom('approvals')
    .innerJoin('transactions', 'transactions.id', 'approvals.transaction_id')
    .selectAll('approvals')
    .select([
      STATE.as('state'),
      personWithId('approvals.requested_by').as('requester'),
      personWithId('approvals.decided_by').as('decider'),
    ])
}

interface ApprovalRow extends Selectable<ApprovalsTable> {
  readonly state: string
  readonly requester: object | null
  readonly decider: object | null
}

function toApproval(row: ApprovalRow): Approval {
  return omitUndefined({
    transactionId: row.transaction_id,
    relayerId: row.relayer_id,
    state: oneOf(APPROVAL_STATES, row.state, 'state of an approval'),
    requestedBy: row.requested_by,
    // The query wrote them with these fields.
    requestedByPerson: (row.requester as Person | null) ?? undefined,
    decidedByPerson: (row.decider as Person | null) ?? undefined,
    // The service wrote the list itself.
    reasons: row.reasons as readonly ApprovalReason[],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedBy: row.decided_by ?? undefined,
    decidedAt: row.decided_at ?? undefined,
    decisionReason: row.decision_reason ?? undefined,
  })
}

/** Every state of an approval. A type test holds it equal to the contract's. */
const APPROVAL_STATES = ['waiting', 'approved', 'refused', 'expired', 'withdrawn'] as const

/**
 * The state of an approval. `withdrawn`: the transaction ended before anyone decided, because it was canceled
 * or its network started over.
 */
export type ApprovalState = (typeof APPROVAL_STATES)[number]

/** A rule that requires an approval. */
type ApprovalReason = Pick<RuleResult, 'subject' | 'rule' | 'detail'>

/** A transaction that is going to wait for an approval. */
export interface NewApproval {
  readonly transactionId: string
  readonly relayerId: string
  /** The id of the API key or person that sent the transaction. It cannot decide. */
  readonly requestedBy: string
  readonly reasons: readonly ApprovalReason[]
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** A decision about a transaction. */
interface DecisionRecord {
  readonly decision: Exclude<ApprovalState, 'waiting' | 'withdrawn'>
  readonly decidedAt: Date
  /** The id of the API key or person that decided; absent if it expired. */
  readonly decidedBy?: string | undefined
  /** The comment of the person who decided. */
  readonly decisionReason?: string | undefined
}

/** A transaction that waits or has waited for an approval. */
export interface Approval extends NewApproval, Partial<Omit<DecisionRecord, 'decision'>> {
  readonly state: ApprovalState
  /** The sender, if a person sent it, as the provider named them last. */
  readonly requestedByPerson?: Person | undefined
  readonly decidedByPerson?: Person | undefined
}
