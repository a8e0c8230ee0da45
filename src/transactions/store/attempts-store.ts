import { sql } from 'kysely'
import type { Attempt, AttemptOutcome, ChainResult } from '../../chains/attempt.ts'
import type { Db, Tx } from '../../database/db.ts'
import { recordset, storableText, typesOf } from '../../database/sql-helpers.ts'
import { toExactJson } from '../../lib/json.ts'
import type { Transaction } from '../model/transaction.ts'
import { ATTEMPT_COLUMNS, type AttemptRow, encodeColumns, type OwnedAttempt, toAttempt } from './codec.ts'
import { saveMoved } from './terms-store.ts'

const COLUMNS = sql.raw(Object.keys(ATTEMPT_COLUMNS).join(', '))
const TYPES = typesOf(ATTEMPT_COLUMNS)

/** Stores signed attempts. Must commit before their bytes leave the process (I3). */
export async function insertAttempts(tx: Tx, attempts: readonly OwnedAttempt[]): Promise<void> {
  const records = attempts.map((attempt) => encodeColumns(attempt, ATTEMPT_COLUMNS))
  await sql`
    insert into attempts (${COLUMNS}) select ${COLUMNS} from ${recordset(records, TYPES)}`.execute(tx)
}

/** A change of an attempt. `broadcastAt` never overwrites an earlier value. */
export interface AttemptNews {
  readonly transactionId: string
  readonly number: number
  /**
   * Absent if nothing was decided. Then only the error changes, unless another node has since refused the
   * attempt.
   */
  readonly outcome?: AttemptOutcome
  readonly error?: string | undefined
  /** Absent if the number does not change. */
  readonly refusals?: number | undefined
  readonly broadcastAt?: Date | undefined
  /** Null if its block is no longer in the chain; absent if nothing is new. */
  readonly result?: ChainResult | null | undefined
}

/** A change of an attempt with an outcome. */
export interface OutcomeChange extends AttemptNews {
  readonly outcome: AttemptOutcome
}

const { transaction_id, number, outcome, error, refusals, broadcast_at, result } = ATTEMPT_COLUMNS
const KEY_AND_CHANGES = { transaction_id, number, outcome, error, refusals, broadcast_at, result }
const CHANGE_TYPES = typesOf({ ...KEY_AND_CHANGES, is_forgotten: { type: 'boolean' } })

/**
 * Writes results that attempts lose into the events that tell of their inclusion. The array makes the
 * database use the index of the events whatever it expects; nearly always it is empty.
 */
const KEEP_RESULTS = sql`
  former as materialized (
    select a.transaction_id, a.number, a.result from attempts a
    join record on record.transaction_id = a.transaction_id and record.number = a.number
    where a.result is not null
      and (record.is_forgotten or (record.result is not null and record.result <> a.result))
  ),
  kept as (
    update events e set payload = jsonb_build_object('result', former.result) || e.payload
    from former
    where e.transaction_id = former.transaction_id and e.type <> 'alert'
      and e.transaction_id = any(array(select transaction_id from former))
      and e.payload -> 'current_attempt' = to_jsonb(former.number) and e.payload ? 'block_hash'
  )`

/**
 * Stores the outcomes of attempts. Call it in the database transaction that saves the transactions, after
 * them: their locks come first. An unchanged row is not written, because bytes are broadcast many times and
 * the rows are wide. A lost or changed result moves to the events about its inclusion, which show it forever.
 * With `openOnly`, a decision of the chain stays: a late answer to a broadcast says less than a receipt.
 */
export async function saveOutcomes(
  tx: Tx,
  changes: readonly AttemptNews[],
  { openOnly = false } = {},
): Promise<void> {
  if (changes.length === 0) return
  const records = changes.map((change) => ({
    transaction_id: change.transactionId,
    number: change.number,
    outcome: change.outcome,
    error: change.error && storableText(change.error),
    refusals: change.refusals,
    broadcast_at: change.broadcastAt,
    result: change.result && toExactJson(change.result),
    is_forgotten: change.result === null,
  }))
  // Most changes are about broadcasts, and cannot take a result away.
  const keepResults = changes.some(({ result }) => result !== undefined) ? sql`, ${KEEP_RESULTS}` : sql``
  await sql`
    with record as materialized (
      select * from ${recordset(records, CHANGE_TYPES)}
    )
    ${keepResults}
    update attempts a set outcome = coalesce(record.outcome, a.outcome), error = record.error,
      refusals = coalesce(record.refusals, a.refusals), broadcast_at = coalesce(a.broadcast_at, record.broadcast_at),
      result = case when record.is_forgotten then null else coalesce(record.result, a.result) end
    from record
    where a.transaction_id = record.transaction_id and a.number = record.number
      and (${!openOnly}::boolean or a.outcome in ('signed', 'broadcast', 'refused'))
      and (record.outcome is not null or a.outcome <> 'refused')
      and (coalesce(record.outcome, a.outcome), record.error, coalesce(record.refusals, a.refusals),
        coalesce(a.broadcast_at, record.broadcast_at),
        case when record.is_forgotten then null else coalesce(record.result, a.result) end)
        is distinct from (a.outcome, a.error, a.refusals, a.broadcast_at, a.result)`.execute(tx)
  await saveMoved(
    tx,
    changes.flatMap(({ transactionId, result }) => {
      const moved = result === null ? [] : result?.moved
      return moved === undefined ? [] : [{ transactionId, moved, isForgotten: result === null }]
    }),
  )
}

/**
 * Reads the attempts of several transactions, oldest first, by transaction id. The inner order and the offset
 * change no result. They make the database look up each transaction in the index: otherwise it scans the
 * whole table, until it is much larger.
 */
export async function findAttempts(
  db: Db,
  transactions: readonly Transaction[],
): Promise<Map<string, Attempt[]>> {
  const found = new Map<string, Attempt[]>(transactions.map((transaction) => [transaction.id, []]))
  if (transactions.length === 0) return found
  const { rows } = await sql<AttemptRow>`
    select a.* from unnest(${[...found.keys()]}::text[]) as wanted (id)
    cross join lateral (select * from attempts where transaction_id = wanted.id order by number offset 0) a`.execute(
    db,
  )
  for (const row of rows) found.get(row.transaction_id)?.push(toAttempt(row))
  // A sort of the few attempts of each costs less than that of all rows in the database.
  for (const attempts of found.values()) attempts.sort((one, other) => one.number - other.number)
  return found
}

/** Maps each hash to the id of the transaction that has it. Unused hashes are absent. */
export async function findHashOwners(db: Db, hashes: readonly string[]): Promise<Map<string, string>> {
  if (hashes.length === 0) return new Map()
  const rows = await db
    .selectFrom('attempts')
    .select(['hash', 'transaction_id'])
    .where('hash', 'in', [...hashes])
    .where('reset_at', 'is', null)
    .execute()
  return new Map(rows.map((row) => [row.hash, row.transaction_id]))
}
