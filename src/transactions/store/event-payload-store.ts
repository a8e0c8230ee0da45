import { type Kysely, sql } from 'kysely'
import type { Attempt } from '../../chains/attempt.ts'
import type { Schema } from '../../database/schema.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { ATTEMPT_COLUMNS } from './attempt-columns-store.ts'
import { type AttemptRow, type TransactionRow, toAttempt, toTransaction } from './codec.ts'

// The limits of the lateral queries below change no result, because each names a key. They make the database look up the few rows of a page: by
// its estimate, it would rather read a table of some thousands from end to end for each page.

type OfEvent<Row> = Row & { readonly event_number: bigint }

/**
 * Reads the transactions of events in their state at that time, by event number, each with its current attempt. An event stores the fields of
 * the transaction that have changed since or may often change; the others come from its row, and those that only the service uses are neutral. The attempt is joined,
 * because signed content never changes.
 */
export async function readSnapshots(
  db: Kysely<Schema>,
  eventNumbers: readonly bigint[],
): Promise<Map<bigint, TransactionWithAttempts>> {
  if (eventNumbers.length === 0) return new Map()
  // The row type of the table makes the driver read every column as from the table, so no integer is rounded (I10).
  const { rows } = await sql<OfEvent<TransactionRow>>`
    select e.number as event_number, snapshot.*
    from events e
    cross join lateral (select * from transactions where id = e.transaction_id limit 1) t,
    jsonb_populate_record(null::transactions, jsonb_build_object('id', t.id, 'relayer_id', t.relayer_id, 'network', t.network,
      'from_address', t.from_address, 'created_at', t.created_at, 'version', 1, 'cost', 0, 'next_run_at', t.created_at,
      'top_up_of', t.top_up_of, 'request', t.request, 'purpose', t.purpose,
      'source_account', case when e.payload ? 'nonce' then t.from_address end) || e.payload) snapshot
    where e.number = any(${eventNumbers}::bigint[])`.execute(db)
  const attempts = await readShownAttempts(db, eventNumbers)
  return new Map(
    rows.map((row) => {
      const transaction = toTransaction(row)
      const attempt = attempts.get(row.event_number)
      return [row.event_number, { transaction, attempts: attempt ? [asThen(attempt, transaction)] : [] }]
    }),
  )
}

async function readShownAttempts(
  db: Kysely<Schema>,
  eventNumbers: readonly bigint[],
): Promise<Map<bigint, Attempt>> {
  const { rows } = await sql<OfEvent<AttemptRow>>`
    select e.number as event_number, ${ATTEMPT_COLUMNS}
    from events e
    cross join lateral (select * from transactions where id = e.transaction_id limit 1) t
    cross join lateral (
      select * from attempts
      where transaction_id = e.transaction_id and number = (e.payload ->> 'current_attempt')::integer limit 1) a
    where e.number = any(${eventNumbers}::bigint[])`.execute(db)
  return new Map(rows.map((row) => [row.event_number, toAttempt(row)]))
}

/**
 * Removes the fields that the attempt got later: in the status `sent` no node had accepted it, and it has no result before a block includes
 * it.
 */
function asThen(attempt: Attempt, { status, block }: Transaction): Attempt {
  const { broadcastAt, result, ...signed } = attempt
  return {
    ...signed,
    ...(broadcastAt !== undefined && status !== 'sent' && { broadcastAt }),
    ...(result !== undefined && block !== undefined && { result }),
  }
}
