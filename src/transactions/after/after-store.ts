import { sql } from 'kysely'
import type { Visibility } from '../../access/principal.ts'
import { ofVisibleRelayer } from '../../access/visibility-store.ts'
import { ATTEMPT_KINDS } from '../../chains/attempt.ts'
import type { Db, Tx } from '../../database/db.ts'
import { isNoop } from '../model/attempts.ts'
import type { TransactionStatus } from '../model/transaction.ts'
import type { Predecessor } from './predecessor.ts'

// Conditions name `awaits_transaction is not null`, because the partial indexes apply only then.

/** The kinds of attempts whose inclusion is no success of the content. */
const NOOPS = ATTEMPT_KINDS.filter(isNoop)

interface PredecessorRow {
  readonly id: string
  readonly relayer_id: string
  readonly requested_by: string | null
  readonly status: TransactionStatus
  readonly status_reason: string | null
  readonly has_succeeded: boolean | null
}

const COLUMNS = sql`t.id, t.relayer_id, t.requested_by, t.status, t.status_reason,
  t.status in ('mined', 'confirmed') and a.outcome = 'mined' and a.kind <> all(${NOOPS}::text[]) as has_succeeded`

const BESIDE = sql`left join attempts a on a.transaction_id = t.id and a.number = t.current_attempt`

function toPredecessor(row: PredecessorRow): Predecessor {
  return {
    id: row.id,
    relayerId: row.relayer_id,
    status: row.status,
    statusReason: row.status_reason ?? undefined,
    hasSucceeded: row.has_succeeded === true,
  }
}

/** Finds transactions of any relayer, as others wait for them. */
export async function findPredecessors(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Predecessor>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<PredecessorRow>`
    select ${COLUMNS} from transactions t ${BESIDE} where t.id = any(${ids}::text[])`.execute(db)
  return new Map(rows.map((row) => [row.id, toPredecessor(row)]))
}

interface Reader {
  readonly visibility: Visibility
  /** Absent for a reader of every transaction of these relayers; otherwise only those of this API key. */
  readonly requestedBy: string | undefined
}

/** Finds a transaction that the reader may see; undefined for any other one, whether or not it exists. */
export async function findVisiblePredecessor(
  db: Db,
  id: string,
  { visibility, requestedBy }: Reader,
): Promise<Predecessor | undefined> {
  const own = requestedBy === undefined ? sql`` : sql`and t.requested_by = ${requestedBy}`
  const { rows } = await sql<PredecessorRow>`
    select ${COLUMNS} from transactions t ${BESIDE}
    where t.id = ${id} ${own} and ${ofVisibleRelayer(visibility, 't.relayer_id')}`.execute(db)
  return rows[0] && toPredecessor(rows[0])
}

/** A transaction that a new one is going to wait for. */
export interface LockedPredecessor extends Predecessor {
  /** The transactions that it waits for itself, one behind the other. */
  readonly depth: number
  /** The transactions that wait for it. */
  readonly followers: number
}

/**
 * Reads transactions that new ones are going to wait for, and keeps them from being deleted until the commit.
 * A writer that is about to change one of them comes before or after, so that no change is missed.
 */
export async function lockPredecessors(
  tx: Tx,
  ids: readonly string[],
  maxDepth: number,
): Promise<ReadonlyMap<string, LockedPredecessor>> {
  if (ids.length === 0) return new Map()
  await sql`select id from transactions where id = any(${ids}::text[]) order by id for key share`.execute(tx)
  const known = await findPredecessors(tx, ids)
  const { rows } = await sql<{ id: string; depth: bigint; followers: bigint }>`
    with recursive chain as (
      select id, awaits_transaction as next, 0 as depth from transactions where id = any(${ids}::text[])
      union all
      select chain.id, t.awaits_transaction, chain.depth + 1 from chain
      join transactions t on t.id = chain.next where chain.depth < ${maxDepth})
    select id, max(depth) as depth,
      (select count(*) from transactions f where f.awaits_transaction = chain.id) as followers
    from chain group by id`.execute(tx)
  return new Map(
    rows.flatMap(({ id, depth, followers }) => {
      const predecessor = known.get(id)
      return predecessor === undefined
        ? []
        : [[id, { ...predecessor, depth: Number(depth), followers: Number(followers) }] as const]
    }),
  )
}

/** A transaction that waits for another one. */
export interface Waiting {
  readonly id: string
  readonly relayerId: string
}

interface WaitingRow {
  readonly id: string
  readonly relayer_id: string
}

const toWaiting = ({ id, relayer_id: relayerId }: WaitingRow): Waiting => ({ id, relayerId })

/** Returns true if any transaction waits for another one. */
export async function hasWaiting(db: Db): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from transactions where awaits_transaction is not null) as found`.execute(db)
  return rows[0]?.found === true
}

/** Finds every transaction that waits for another one. */
export async function findAllWaiting(db: Db): Promise<Waiting[]> {
  const { rows } = await sql<WaitingRow>`
    select id, relayer_id from transactions where awaits_transaction is not null`.execute(db)
  return rows.map(toWaiting)
}

/**
 * Finds the transactions whose predecessor has an event in this part of the log, and those that began to wait
 * there. It reads the events, and no row of a transaction whose predecessor did not move.
 */
export async function findMoved(
  db: Db,
  { after, upTo }: { readonly after: bigint; readonly upTo: bigint },
): Promise<Waiting[]> {
  const { rows } = await sql<WaitingRow>`
    with moved as materialized (
      select distinct transaction_id as id from events
      where number > ${after} and number <= ${upTo} and transaction_id is not null)
    select w.id, w.relayer_id from moved join transactions w on w.awaits_transaction = moved.id
    union
    select w.id, w.relayer_id from moved join transactions w on w.id = moved.id and w.awaits_transaction is not null`.execute(
    db,
  )
  return rows.map(toWaiting)
}

/** Finds up to `limit` transactions that wait although they can no longer be sent. */
export async function findLateWaiting(db: Db, now: Date, limit: number): Promise<Waiting[]> {
  const { rows } = await sql<WaitingRow>`
    select id, relayer_id from transactions
    where awaits_transaction is not null and after_transaction->>'expiresAt' <= ${now.toISOString()}
    order by after_transaction->>'expiresAt' limit ${limit}`.execute(db)
  return rows.map(toWaiting)
}
