import { type Selectable, sql } from 'kysely'
import { personWithId } from '../access/people-store.ts'
import type { Person } from '../audit/entry.ts'
import type { Db, Tx } from '../database/db.ts'
import { storableText } from '../database/sql-helpers.ts'
import type { ProposalsTable } from '../database/tables/access.ts'
import { oneOf } from '../lib/exhaustive.ts'
import { omitUndefined } from '../lib/object.ts'

/** Every state of a proposal. */
const STATES = ['waiting', 'unfinished', 'approved', 'refused', 'expired'] as const

export type ProposalState = (typeof STATES)[number]

/** A change before it is stored. */
export interface NewProposal {
  readonly id: string
  readonly operation: string
  /** The record, such as `api_key:payments`. At most one change of it waits. */
  readonly target?: string | undefined
  /** The input of the operation as JSON. It can hold secrets, and is stored sealed. */
  readonly input: string
  /** The input without secrets. */
  readonly shown: object
  readonly proposedBy: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** A stored change, and what became of it. */
export interface Proposal extends NewProposal {
  readonly state: ProposalState
  readonly proposedByPerson?: Person | undefined
  readonly decidedBy?: string | undefined
  readonly decidedByPerson?: Person | undefined
  readonly decidedAt?: Date | undefined
  readonly decisionReason?: string | undefined
}

/**
 * Stores a proposal; false if another one waits for the same record. Those whose time is over wait no longer.
 */
export async function insertProposal(tx: Tx, proposal: NewProposal): Promise<boolean> {
  await tx
    .updateTable('proposals')
    .set({ decision: 'expired', proposed_input: '' })
    .where('decision', 'is', null)
    .where('expires_at', '<=', proposal.createdAt)
    .execute()
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('proposals')
    .values({
      id: proposal.id,
      operation: proposal.operation,
      target: proposal.target ?? null,
      proposed_input: proposal.input,
      shown: JSON.stringify(proposal.shown),
      proposed_by: proposal.proposedBy,
      created_at: proposal.createdAt,
      expires_at: proposal.expiresAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Finds a proposal by its id. */
export async function findProposal(db: Db, id: string, now: Date): Promise<Proposal | undefined> {
  const row = await proposalsOf(db, now).where('proposals.id', '=', id).executeTakeFirst()
  return row && toProposal(row)
}

/** Finds the proposal that waits for a record. */
export async function findWaiting(db: Db, target: string, now: Date): Promise<Proposal | undefined> {
  const row = await proposalsOf(db, now)
    .where('target', '=', target)
    .where('decision', 'is', null)
    .executeTakeFirst()
  return row && toProposal(row)
}

/** Counts the proposals of a person that wait. */
export async function countWaiting(db: Db, personId: string, now: Date): Promise<number> {
  const { total } = await db
    .selectFrom('proposals')
    .where('proposed_by', '=', personId)
    .where('decision', 'is', null)
    .where('expires_at', '>', now)
    .select((eb) => eb.fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(total)
}

interface ListQuery {
  /** Only changes by these operations. */
  readonly operations: readonly string[]
  readonly state?: ProposalState | undefined
  readonly now: Date
  readonly offset: number
  readonly limit: number
}

/** Lists proposals, newest first. `total` counts all of them. */
export async function listProposals(
  db: Db,
  { operations, state, now, offset, limit }: ListQuery,
): Promise<{ items: Proposal[]; total: number }> {
  const found = proposalsOf(db, now)
    .where(sql<boolean>`operation = any(${operations}::text[])`)
    .$if(state !== undefined, (query) => query.where(stateAt(now), '=', state ?? ''))
  const { total } = await found
    .clearSelect()
    .select((eb) => eb.fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await found
    .orderBy('created_at', 'desc')
    .orderBy('proposals.id')
    .offset(offset)
    .limit(limit)
    .execute()
  return { items: rows.map(toProposal), total: Number(total) }
}

interface Decision {
  /** `unfinished`: approved, and its change has not taken effect yet. */
  readonly decision: 'unfinished' | 'refused'
  readonly decidedBy: string
  readonly decidedAt: Date
  readonly reason: string | undefined
}

/** Decides about a proposal; false if it no longer waits. */
export async function decideProposal(
  tx: Tx,
  id: string,
  { decision, decidedBy, decidedAt, reason }: Decision,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('proposals')
    .set({
      decision,
      decided_by: decidedBy,
      decided_at: decidedAt,
      decision_reason: reason === undefined ? null : storableText(reason),
    })
    .where('id', '=', id)
    .where('decision', 'is', null)
    .where('expires_at', '>', decidedAt)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Notes that the change of an approved proposal took effect, and removes its input. */
export async function finishProposal(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('proposals')
    .set({ decision: 'approved', proposed_input: '' })
    .where('id', '=', id)
    .where('decision', '=', 'unfinished')
    .execute()
}

/** Removes the input of a refused proposal: it can hold secrets, and is needed no longer. */
export async function forgetInput(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('proposals').set({ proposed_input: '' }).where('id', '=', id).execute()
}

/** Lets a proposal wait again whose change was refused by the service. */
export async function reopenProposal(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('proposals')
    .set({ decision: null, decided_by: null, decided_at: null, decision_reason: null })
    .where('id', '=', id)
    .where('decision', '=', 'unfinished')
    .execute()
}

function stateAt(now: Date) {
  return sql<string>`coalesce(decision, case when expires_at <= ${now} then 'expired' else 'waiting' end)`
}

function proposalsOf(db: Db, now: Date) {
  return db
    .selectFrom('proposals')
    .selectAll('proposals')
    .select([
      stateAt(now).as('state'),
      personWithId('proposals.proposed_by').as('proposer'),
      personWithId('proposals.decided_by').as('decider'),
    ])
}

interface ProposalRow extends Selectable<ProposalsTable> {
  readonly state: string
  readonly proposer: object | null
  readonly decider: object | null
}

function toProposal(row: ProposalRow): Proposal {
  return omitUndefined({
    id: row.id,
    operation: row.operation,
    target: row.target ?? undefined,
    input: row.proposed_input,
    shown: row.shown,
    state: oneOf(STATES, row.state, 'state of a proposal'),
    proposedBy: row.proposed_by,
    // The query wrote them with these fields.
    proposedByPerson: (row.proposer as Person | null) ?? undefined,
    decidedByPerson: (row.decider as Person | null) ?? undefined,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedBy: row.decided_by ?? undefined,
    decidedAt: row.decided_at ?? undefined,
    decisionReason: row.decision_reason ?? undefined,
  })
}
