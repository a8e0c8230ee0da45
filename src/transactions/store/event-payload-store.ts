import { sql } from 'kysely'
import type { Attempt } from '../../chains/attempt.ts'
import type { Db } from '../../database/db.ts'
import type { EventRecord } from '../../events/event.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { type AttemptRow, type TransactionRow, toAttempt, toResult, toTransaction } from './codec.ts'
import type { StoredSnapshot } from './transactions-store.ts'

// The limits of the lateral queries below change no result, because each names a key. They make the database look up the few rows of a page: by
// its estimate, it would rather read a table of some thousands from end to end for each page.

/**
 * Reads the transactions of events in their state at that time, by event number, each with its current attempt. An event stores the fields of
 * the transaction that have changed since or may often change; the others come from its row, and those that only the service uses are neutral. The
 * attempt is joined, because signed content never changes.
 */
export async function readSnapshots(
  db: Db,
  events: readonly Pick<EventRecord, 'number' | 'transactionId'>[],
): Promise<Map<bigint, TransactionWithAttempts>> {
  if (events.length === 0) return new Map()
  // The rows are read before the events: who replaces content moves the old one into the events in the same statement (`KEEP_CONTENT`), so an
  // event that was read later than its row has the old content or the row has it.
  const contents = await readContents(db, [
    ...new Set(events.flatMap(({ transactionId }) => transactionId ?? [])),
  ])
  const states = await readStates(
    db,
    events.map(({ number }) => number),
  )
  const attempts = await readAttempts(db, states)
  return new Map(
    states.flatMap((state): [bigint, TransactionWithAttempts][] => {
      const content = contents.get(state.transaction_id)
      if (content === undefined) return []
      const transaction = toTransaction(rowOf(content, state))
      const attempt = attempts.get(keyOf(state))
      return [[state.number, { transaction, attempts: attempt ? [asThen(attempt, transaction, state)] : [] }]]
    }),
  )
}

/** The fields that an event leaves to the row of its transaction. */
type Content = Pick<
  TransactionRow,
  | 'id'
  | 'relayer_id'
  | 'network'
  | 'from_address'
  | 'created_at'
  | 'top_up_of'
  | 'lane'
  | 'request'
  | 'purpose'
>

/** An event about a transaction. */
interface State {
  readonly number: bigint
  readonly transaction_id: string
  readonly payload: Partial<StoredSnapshot>
  /** As texts, because JSON.parse would round them (I10). */
  readonly nonce: string | null
  readonly block_number: string | null
}

/** Events of one page are often about the same transactions, so that each row is read once. */
async function readContents(db: Db, ids: readonly string[]): Promise<Map<string, Content>> {
  const { rows } = await sql<Content>`
    select t.id, t.relayer_id, t.network, t.from_address, t.created_at, t.top_up_of, t.lane, t.request, t.purpose
    from unnest(${ids}::text[]) as shown (id)
    cross join lateral (select * from transactions where id = shown.id limit 1) t`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

async function readStates(db: Db, numbers: readonly bigint[]): Promise<readonly State[]> {
  const { rows } = await sql<State>`
    select number, transaction_id, payload, payload ->> 'nonce' as nonce, payload ->> 'block_number' as block_number
    from events where number = any(${numbers}::bigint[])`.execute(db)
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

/** The fields that no reader of an event sees. */
const UNSEEN = {
  estimated_gas: null,
  version: 1,
  cost: 0n,
  budgeted: false,
  requested_by: null,
  trace_parent: null,
  private_since_block: null,
}

/** Returns the earlier row of the transaction. */
function rowOf(content: Content, { payload, nonce, block_number: blockNumber }: State): TransactionRow {
  return {
    ...UNSEEN,
    ...content,
    next_run_at: content.created_at,
    request: payload.request ?? content.request,
    purpose: payload.purpose ?? content.purpose,
    status: payload.status ?? '',
    status_reason: payload.status_reason ?? null,
    source_account: payload.source_account ?? (nonce === null ? null : content.from_address),
    nonce: toBigint(nonce),
    current_attempt: payload.current_attempt ?? null,
    awaits_approval: payload.awaits_approval ?? null,
    awaits_price: null,
    block_number: toBigint(blockNumber),
    block_hash: payload.block_hash ?? null,
    block_time: toTime(payload.block_time),
    sent_at: toTime(payload.sent_at),
    confirmed_at: toTime(payload.confirmed_at),
    undecided_since: toTime(payload.undecided_since),
    stuck_since: toTime(payload.stuck_since),
    private: payload.private ?? null,
    made_public_at: toTime(payload.made_public_at),
    reorganized_at: toTime(payload.reorganized_at),
    stated_hash: payload.stated_hash ?? null,
  }
}

function toBigint(text: string | null): bigint | null {
  return text === null ? null : BigInt(text)
}

function toTime(text: string | null | undefined): Date | null {
  return text == null ? null : new Date(text)
}

/**
 * Removes the fields that the attempt got later: in the status `sent` no node had accepted it, and it has no result before a block includes
 * it. A result that the attempt has lost since is in the event.
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
