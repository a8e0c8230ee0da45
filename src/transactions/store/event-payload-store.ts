import { sql } from 'kysely'
import type { Attempt } from '../../chains/attempt.ts'
import type { Db } from '../../database/db.ts'
import type { EventRecord } from '../../events/event.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import {
  type AttemptRow,
  type ColumnsOfKind,
  columnsOf,
  decodeColumns,
  type TransactionRow,
  toAttempt,
  toResult,
  toTransaction,
} from './codec.ts'

// The limits of the lateral queries below change no result, because each names a key. They make the database
// look up the few rows of a page: by its estimate, it would rather read a table of some thousands from end to
// end for each page.

/**
 * Reads the transactions of events in their state at that time, by event number, each with its current
 * attempt. An event stores the fields of the transaction that have changed since or may often change; the
 * others come from its row, and those that only the service uses are neutral. The attempt is joined, because
 * signed content never changes.
 */
export async function readSnapshots(
  db: Db,
  events: readonly Pick<EventRecord, 'number' | 'transactionId'>[],
): Promise<Map<bigint, TransactionWithAttempts>> {
  if (events.length === 0) return new Map()
  // The rows are read before the events: who replaces content moves the old one into the events in the same
  // statement (`KEEP_CONTENT`), so an event that was read later than its row has the old content or the row
  // has it.
  const rowParts = await readRowParts(db, [
    ...new Set(events.flatMap(({ transactionId }) => transactionId ?? [])),
  ])
  const states = await readStates(
    db,
    events.map(({ number }) => number),
  )
  const attempts = await readAttempts(db, states)
  return new Map(
    states.flatMap((state): [bigint, TransactionWithAttempts][] => {
      const row = rowParts.get(state.transaction_id)
      if (row === undefined) return []
      const transaction = toTransaction(rowOf(row, state))
      const attempt = attempts.get(keyOf(state))
      return [[state.number, { transaction, attempts: attempt ? [asThen(attempt, transaction, state)] : [] }]]
    }),
  )
}

/** The columns that an event leaves to the row of its transaction. */
type RowPart = ColumnsOfKind<'fixed' | 'content'>

const ROW_PART = sql.raw(Object.keys(columnsOf('fixed', 'content')).join(', '))
const CONTENT = columnsOf('content')
const STATE = columnsOf('state')

/** An event about a transaction. */
interface State {
  readonly number: bigint
  readonly transaction_id: string
  /** The state, and the content and the result that were lost since. */
  readonly payload: Readonly<Record<string, unknown>> & {
    readonly current_attempt?: number
    readonly result?: object
  }
}

/** Events of one page are often about the same transactions, so that each row is read once. */
async function readRowParts(db: Db, ids: readonly string[]): Promise<Map<string, RowPart>> {
  const { rows } = await sql<RowPart>`
    select t.* from unnest(${ids}::text[]) as shown (id)
    cross join lateral (select ${ROW_PART} from transactions where id = shown.id limit 1) t`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

async function readStates(db: Db, numbers: readonly bigint[]): Promise<readonly State[]> {
  const { rows } = await sql<State>`
    select number, transaction_id, payload from events where number = any(${numbers}::bigint[])`.execute(db)
  return rows
}

/** Reads the current attempts of these states, by `keyOf`. */
async function readAttempts(db: Db, states: readonly State[]): Promise<Map<string, Attempt>> {
  const shown = new Map(
    states.flatMap((state): [string, object][] => {
      const { transaction_id: id, payload } = state
      return payload.current_attempt == null ? [] : [[keyOf(state), { id, number: payload.current_attempt }]]
    }),
  )
  if (shown.size === 0) return new Map()
  const { rows } = await sql<AttemptRow>`
    select a.*
    from jsonb_to_recordset(${JSON.stringify([...shown.values()])}::jsonb) as shown (id text, number integer)
    cross join lateral (select * from attempts where transaction_id = shown.id and number = shown.number limit 1) a`.execute(
    db,
  )
  return new Map(rows.map((row) => [attemptKey(row.transaction_id, row.number), toAttempt(row)]))
}

function keyOf({ transaction_id: id, payload }: State): string {
  return attemptKey(id, payload.current_attempt)
}

function attemptKey(transactionId: string, number: number | null | undefined): string {
  return `${transactionId} ${number}`
}

/** The columns that no reader of an event sees; the time of the next step is one of them. */
const UNSEEN: Omit<ColumnsOfKind<'internal'>, 'next_run_at'> = {
  estimated_gas: null,
  version: 1,
  cost: 0n,
  budgeted: false,
  awaits_price: null,
  valid_from: null,
  released_at: null,
  private_since_block: null,
}

/** Returns the earlier row of the transaction. */
function rowOf(row: RowPart, { payload }: State): TransactionRow {
  const stored = decodeColumns(payload, STATE) as ColumnsOfKind<'state'>
  return {
    ...UNSEEN,
    next_run_at: row.created_at,
    ...row,
    ...decodeColumns(payload, CONTENT, row),
    ...stored,
    source_account: stored.source_account ?? (stored.nonce === null ? null : row.from_address),
  }
}

/**
 * Removes the fields that the attempt got later: in the status `sent` no node had accepted it, and it has no
 * result before a block includes it. A result that the attempt has lost since is in the event.
 */
function asThen(attempt: Attempt, { status, block }: Transaction, { payload }: State): Attempt {
  const { broadcastAt, result: last, ...signed } = attempt
  const result = payload.result === undefined ? last : toResult(payload.result)
  return {
    ...signed,
    ...(broadcastAt !== undefined && status !== 'sent' && { broadcastAt }),
    ...(result !== undefined && block !== undefined && { result }),
  }
}
