import { type Transaction as DbTransaction, type Kysely, sql } from 'kysely'
import type { Attempt, AttemptOutcome, ChainResult } from '../chains/attempt.ts'
import { notify } from '../database/notify.ts'
import type { Schema } from '../database/schema.ts'
import { storableText } from '../database/text.ts'
import { toExactJson } from '../exact-json.ts'
import { type AttemptRow, encodeDraft, encodeRequest, toAttempt, toTransaction } from './codec.ts'
import { addToCounts, countTransactions, isFinal } from './finished-store.ts'
import type { Transaction, TransactionStatus, TransactionWithAttempts } from './transaction.ts'

/** Wakes the workers of every process. The payload is a relayer id. */
export const WORK_CHANNEL = 'transactions_due'

/** Who is told of an event: as the relayer is configured when it happens. */
const NOTIFICATION = sql`(select notification_id from relayers where relayers.id = record.relayer_id)`

type Db = Kysely<Schema>
type Tx = DbTransaction<Schema>

/** Stores new transactions and the events that tell of them, in the order given. */
export async function insertTransactions(tx: Tx, transactions: readonly Transaction[]): Promise<void> {
  if (transactions.length === 0) return
  await sql`
    with record as materialized (select * from ${recordset(transactions)}),
    stored as (
      insert into transactions (id, relayer_id, network, from_address, status, status_reason, intent, request,
        estimated_gas, line, nonce, cost, next_run_at, created_at)
      select id, relayer_id, network, from_address, status, status_reason, intent, request, estimated_gas, line, nonce,
        cost, next_run_at, created_at
      from record
    ),
    counted as (${addToCounts(sql`select relayer_id, status from record where ${isFinal(sql`status`)}`)})
    insert into events (relayer_id, transaction_id, type, payload, notification_id)
    select relayer_id, id, 'transaction_update', to_jsonb(record), ${NOTIFICATION} from record`.execute(tx)
  await wakeWorkers(tx, transactions)
}

/**
 * Writes what has become of the transactions, each guarded by the version it was read with, and in the same statement
 * the events of those whose status or attempt changed (I8). Returns the ones that were written, in the order given; for
 * the others somebody else was faster.
 */
export async function saveTransactions(tx: Tx, transactions: readonly Transaction[]): Promise<Transaction[]> {
  if (transactions.length === 0) return []
  const { rows } = await sql<{ id: string }>`
    with record as materialized (select * from ${recordset(transactions)}),
    before as (
      select t.id, t.status, t.current_attempt from transactions t
      join record on record.id = t.id and record.version = t.version
      order by t.id for update of t
    ),
    written as (
      update transactions t set
        status = record.status, status_reason = record.status_reason, intent = record.intent,
        request = record.request, estimated_gas = record.estimated_gas, line = record.line, nonce = record.nonce,
        version = t.version + 1, current_attempt = record.current_attempt, cost = record.cost, block_number = record.block_number,
        block_hash = record.block_hash, next_run_at = record.next_run_at, sent_at = record.sent_at,
        confirmed_at = record.confirmed_at
      from record join before on before.id = record.id
      where t.id = record.id
      returning t.id,
        before.status <> t.status or before.current_attempt is distinct from t.current_attempt as is_event,
        ${isFinal(sql`t.status`)} and not (${isFinal(sql`before.status`)}) as is_finished
    ),
    told as (
      insert into events (relayer_id, transaction_id, type, payload, notification_id)
      select record.relayer_id, record.id, 'transaction_update', to_jsonb(record), ${NOTIFICATION}
      from record join written on written.id = record.id and written.is_event
    ),
    counted as (${addToCounts(sql`
      select record.relayer_id, record.status
      from record join written on written.id = record.id and written.is_finished`)})
    select id from written`.execute(tx)
  const written = new Set(rows.map((row) => row.id))
  const saved = transactions
    .filter((transaction) => written.has(transaction.id))
    .map((transaction) => ({ ...transaction, version: transaction.version + 1 }))
  await wakeWorkers(tx, saved)
  return saved
}

/** Stores signed attempts. Must commit before their bytes leave the process (I3). */
export async function insertAttempts(
  tx: Tx,
  attempts: readonly { transactionId: string; attempt: Attempt }[],
): Promise<void> {
  const records = attempts.map(({ transactionId, attempt }) => ({
    transaction_id: transactionId,
    number: attempt.number,
    kind: attempt.kind,
    line: attempt.line,
    nonce: attempt.nonce?.toString(),
    hash: attempt.signed.hash,
    raw: Buffer.from(attempt.signed.raw).toString('hex'),
    draft: encodeDraft(attempt.draft),
    signature: attempt.signed.signature,
    outcome: attempt.outcome,
    signed_at: attempt.signedAt,
  }))
  await sql`
    insert into attempts (transaction_id, number, kind, line, nonce, hash, raw, draft, signature, outcome, signed_at)
    select transaction_id, number, kind, line, nonce, hash, decode(raw, 'hex'), draft, signature, outcome, signed_at
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as record (
      transaction_id text, number integer, kind text, line text, nonce bigint, hash text, raw text, draft jsonb,
      signature jsonb, outcome text, signed_at timestamptz)`.execute(tx)
}

/** What is news of an attempt. `broadcastAt` is kept when it is there already. */
export interface AttemptNews {
  readonly transactionId: string
  readonly number: number
  /** Absent where nothing was decided: then only a node's words are news, unless another node has refused it meanwhile. */
  readonly outcome?: AttemptOutcome
  readonly error?: string | undefined
  readonly broadcastAt?: Date | undefined
  readonly result?: ChainResult | undefined
}

/** What became of an attempt. */
export interface OutcomeChange extends AttemptNews {
  readonly outcome: AttemptOutcome
}

/**
 * Writes outcomes where they are news, because bytes are offered many times and their rows are wide. With `openOnly`, what the
 * chain decided meanwhile stays: a node's late answer to a broadcast says less than a receipt.
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
    broadcast_at: change.broadcastAt,
    result: change.result && toExactJson(change.result),
  }))
  await sql`
    update attempts a set outcome = coalesce(record.outcome, a.outcome), error = record.error,
      broadcast_at = coalesce(a.broadcast_at, record.broadcast_at), result = coalesce(record.result, a.result)
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as record (
      transaction_id text, number integer, outcome text, error text, broadcast_at timestamptz,
      result jsonb)
    where a.transaction_id = record.transaction_id and a.number = record.number
      and (${!openOnly}::boolean or a.outcome in ('signed', 'broadcast', 'refused'))
      and (record.outcome is not null or a.outcome <> 'refused')
      and (coalesce(record.outcome, a.outcome), record.error, coalesce(a.broadcast_at, record.broadcast_at),
        coalesce(record.result, a.result)) is distinct from (a.outcome, a.error, a.broadcast_at, a.result)`.execute(
    tx,
  )
}

/** A transaction of this relayer; one of another relayer does not exist here. */
export async function findTransaction(
  db: Db,
  relayerId: string,
  id: string,
): Promise<TransactionWithAttempts | undefined> {
  const row = await db
    .selectFrom('transactions')
    .selectAll()
    .where('relayer_id', '=', relayerId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const transaction = toTransaction(row)
  const attempts = await findAttempts(db, [transaction])
  return { transaction, attempts: attempts.get(id) ?? [] }
}

/** The attempts of several transactions, oldest first. */
export async function findAttempts(
  db: Db,
  transactions: readonly Transaction[],
): Promise<Map<string, Attempt[]>> {
  const found = new Map<string, Attempt[]>(transactions.map((transaction) => [transaction.id, []]))
  if (transactions.length === 0) return found
  const rows = await db
    .selectFrom('attempts')
    .selectAll()
    .where('transaction_id', 'in', [...found.keys()])
    .orderBy('transaction_id')
    .orderBy('number')
    .execute()
  for (const row of rows) found.get(row.transaction_id)?.push(toAttempt(row as AttemptRow))
  return found
}

/** Whose these hashes are, by hash; without those that nobody has. */
export async function findHashOwners(db: Db, hashes: readonly string[]): Promise<Map<string, string>> {
  if (hashes.length === 0) return new Map()
  const rows = await db
    .selectFrom('attempts')
    .select(['hash', 'transaction_id'])
    .where('hash', 'in', [...hashes])
    .execute()
  return new Map(rows.map((row) => [row.hash, row.transaction_id]))
}

interface ListQuery {
  readonly relayerId: string
  readonly status?: TransactionStatus | undefined
  readonly offset: number
  readonly limit: number
}

/** The relayer's transactions, newest first, each with the attempt that it shows. */
export async function listTransactions(
  db: Db,
  query: ListQuery,
): Promise<{ items: TransactionWithAttempts[]; total: number }> {
  let matching = db.selectFrom('transactions').where('relayer_id', '=', query.relayerId)
  if (query.status !== undefined) matching = matching.where('status', '=', query.status)
  const [total, rows] = await Promise.all([
    countTransactions(db, query),
    query.limit === 0
      ? []
      : matching.selectAll().orderBy('position', 'desc').limit(query.limit).offset(query.offset).execute(),
  ])
  const transactions = rows.map(toTransaction)
  const attempts = await findAttempts(db, transactions)
  const items = transactions.map((transaction) => ({
    transaction,
    attempts: attempts.get(transaction.id) ?? [],
  }))
  return { items, total }
}

/** Statuses that give the submitter something to do: new content to sign, or room for what waits behind. */
const WAKING: readonly TransactionStatus[] = ['pending', 'mined', 'expired', 'canceled', 'failed']

async function wakeWorkers(tx: Tx, transactions: readonly Transaction[]): Promise<void> {
  const waking = transactions.filter(({ status }) => WAKING.includes(status))
  for (const relayerId of new Set(waking.map((transaction) => transaction.relayerId))) {
    await notify(tx, WORK_CHANNEL, relayerId)
  }
}

function toRecord(transaction: Transaction) {
  return {
    id: transaction.id,
    relayer_id: transaction.relayerId,
    network: transaction.network,
    from_address: transaction.from,
    status: transaction.status,
    status_reason: transaction.statusReason && storableText(transaction.statusReason),
    intent: transaction.intent,
    request: encodeRequest(transaction.request),
    estimated_gas: transaction.estimatedGas?.toString(),
    line: transaction.line,
    nonce: transaction.nonce?.toString(),
    version: transaction.version,
    current_attempt: transaction.currentAttempt,
    cost: String(transaction.cost),
    block_number: transaction.block?.number.toString(),
    block_hash: transaction.block?.hash,
    next_run_at: transaction.nextRunAt,
    created_at: transaction.createdAt,
    sent_at: transaction.sentAt,
    confirmed_at: transaction.confirmedAt,
  }
}

/** Many rows as one parameter: a statement has room for 65,535 parameters, and one is planned faster than many. */
function recordset(transactions: readonly Transaction[]) {
  return sql`jsonb_to_recordset(${JSON.stringify(transactions.map(toRecord))}::jsonb) as record (
    id text, relayer_id text, network text, from_address text, status text, status_reason text, intent text,
    request jsonb, estimated_gas bigint, line text, nonce bigint, version integer, current_attempt integer, cost numeric,
    block_number bigint, block_hash text, next_run_at timestamptz, created_at timestamptz, sent_at timestamptz,
    confirmed_at timestamptz)`
}
