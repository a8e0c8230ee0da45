import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { notify, storableText } from '../../database/sql-helpers.ts'
import type { IncidentType } from '../../events/event.ts'
import { mapFields } from '../../lib/object.ts'
import { reportFinished } from '../model/observer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionStatus } from '../model/transaction.ts'
import { encodeRequest } from './codec.ts'
import { addToCounts, isFinal } from './finished-store.ts'

/** The channel that wakes the submit workers of every process. The payload is the id of a relayer that has something to sign. */
export const WORK_CHANNEL = 'transactions_due'

/** The channel for the ids of relayers that have a free slot, for which often nothing waits. */
export const SLOT_CHANNEL = 'slots_free'

/** The notification that gets an event: the one that the relayer has when the event happens. */
const NOTIFICATION = sql`(select notification_id from relayers where relayers.id = record.relayer_id)`

/** Statuses that leave a slot to waiting transactions. */
const FREEING: readonly TransactionStatus[] = ['mined', 'expired', 'canceled', 'failed']

/** Wakes the submit workers at the commit, when the new status of `record` may give them work. */
const WAKE_WORKERS = sql`case
  when record.status = 'pending' and record.awaits_approval is not true then pg_notify(${WORK_CHANNEL}, record.relayer_id)
  when record.status = any(${FREEING as TransactionStatus[]}::text[]) then pg_notify(${SLOT_CHANNEL}, record.relayer_id) end`

/** The transactions with another request or purpose than before. */
const contentChanged = (isChanged: RawBuilder<unknown>) => sql`
  select before.id, before.request, before.purpose from before join record on record.id = before.id where ${isChanged}`

/** The parts of `saveTransactions` about requests, for those who write them and for those who do not. */
const WITH_REQUEST = {
  columns: sql`request = record.request,`,
  contentChanged: contentChanged(
    sql`before.request is distinct from record.request or before.purpose <> record.purpose`,
  ),
}
const WITHOUT_REQUEST = {
  columns: sql``,
  contentChanged: contentChanged(sql`before.purpose <> record.purpose`),
}

/**
 * Writes the former request and purpose into the events of the transactions that get others. It is part of the statement that changes them,
 * so that every reader finds either the old content in the transaction or the event that has it. The array makes the database use the index
 * of the events regardless of its estimates; it is nearly always empty.
 */
const KEEP_CONTENT = sql`
  update events e set payload = jsonb_build_object('request', content_changed.request, 'purpose', content_changed.purpose) || e.payload
  from content_changed
  where e.transaction_id = content_changed.id and e.type <> 'alert'
    and e.transaction_id = any(array(select id from content_changed))`

/** Stores new transactions and their events, in this order (I8). */
export async function insertTransactions(tx: Tx, transactions: readonly Transaction[]): Promise<void> {
  if (transactions.length === 0) return
  await sql`
    with record as materialized (select * from ${newRecords(transactions)}),
    stored as (
      insert into transactions (id, relayer_id, network, from_address, status, status_reason, purpose, request,
        estimated_gas, source_account, nonce, cost, budgeted, requested_by, top_up_of, lane, trace_parent, awaits_approval, awaits_price, private, valid_from,
        next_run_at, created_at)
      select id, relayer_id, network, from_address, status, status_reason, purpose, request, estimated_gas, source_account, nonce,
        cost, budgeted, requested_by, top_up_of, lane, trace_parent, awaits_approval, awaits_price, private, valid_from, next_run_at, created_at
      from record
    ),
    counted as (${addToCounts(sql`select relayer_id, status from record where ${isFinal(sql`status`)}`)}),
    announced as (
      insert into events (uid, relayer_id, transaction_id, type, payload, notification_id)
      select event_uid, relayer_id, id, 'transaction_update', payload, ${NOTIFICATION} from record)
    select ${WAKE_WORKERS} from record`.execute(tx)
}

interface SaveOptions {
  /**
   * No request is written: each transaction has the one that was read with its version. A request may have many kilobytes, and most steps
   * change none. Default: false.
   */
  readonly keepsRequest?: boolean
}

/**
 * Writes transactions, each guarded by the version that was read, and in the same statement the events of those whose status, attempt, wait
 * for an approval or publicity changed (I8). Returns the written ones in the same order; another writer changed the others first.
 */
export async function saveTransactions(
  tx: Tx,
  transactions: readonly Transaction[],
  { keepsRequest = false }: SaveOptions = {},
): Promise<Transaction[]> {
  if (transactions.length === 0) return []
  const records = keepsRequest ? stateRecords(transactions) : changedRecords(transactions)
  const about = keepsRequest ? WITHOUT_REQUEST : WITH_REQUEST
  // The order of locks: database/locks/lock-order.md.
  const { rows } = await sql<{ id: string }>`
    with record as materialized (select * from ${records}),
    before as (
      select t.id, t.status, t.current_attempt, t.awaits_approval, t.made_public_at, t.request, t.purpose from transactions t
      join record on record.id = t.id and record.version = t.version
      order by t.id for update of t
    ),
    written as (
      update transactions t set
        status = record.status, status_reason = record.status_reason, purpose = record.purpose,
        ${about.columns} estimated_gas = record.estimated_gas, source_account = record.source_account, nonce = record.nonce,
        version = t.version + 1, current_attempt = record.current_attempt,
        cost = record.cost, budgeted = record.budgeted,
        awaits_approval = record.awaits_approval, awaits_price = record.awaits_price, valid_from = record.valid_from, block_number = record.block_number, block_hash = record.block_hash, block_time = record.block_time, next_run_at = record.next_run_at, sent_at = record.sent_at,
        confirmed_at = record.confirmed_at, undecided_since = record.undecided_since, stuck_since = record.stuck_since,
        private = record.private, private_since_block = record.private_since_block, made_public_at = record.made_public_at,
        reorganized_at = record.reorganized_at, stated_hash = record.stated_hash
      from record join before on before.id = record.id
      where t.id = record.id
      returning t.id, t.relayer_id, t.status, t.awaits_approval, record.payload, record.event_uid,
        before.status <> t.status or before.current_attempt is distinct from t.current_attempt
          or before.awaits_approval is distinct from t.awaits_approval
          or before.made_public_at is distinct from t.made_public_at as is_event,
        ${isFinal(sql`t.status`)} and not (${isFinal(sql`before.status`)}) as is_finished
    ),
    content_changed as materialized (${about.contentChanged}),
    content_kept as (${KEEP_CONTENT}),
    announced as (
      insert into events (uid, relayer_id, transaction_id, type, payload, notification_id)
      select event_uid, relayer_id, id, 'transaction_update', payload, ${NOTIFICATION} from written record where is_event
    ),
    counted as (${addToCounts(sql`select relayer_id, status from written where is_finished`)})
    select id, ${WAKE_WORKERS} from written record`.execute(tx)
  const written = new Set(rows.map((row) => row.id))
  const saved = transactions
    .filter((transaction) => written.has(transaction.id))
    .map((transaction) => ({ ...transaction, version: transaction.version + 1 }))
  return saved
}

/** Runs `saveTransactions` in a separate database transaction, and reports to the observer after the commit. */
export async function saveInOwnTransaction(
  context: TransactionsContext,
  transactions: readonly Transaction[],
): Promise<Transaction[]> {
  const { db } = context
  const saved = await transact(db, (tx) => saveTransactions(tx, transactions))
  reportFinished(context, saved)
  return saved
}

/**
 * Stores the event of an incident, with a snapshot of each transaction. Call it after the change, in the same database transaction (I8).
 */
export async function announceIncident(tx: Tx, type: IncidentType, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    insert into events (relayer_id, transaction_id, type, payload, notification_id)
    select record.relayer_id, record.id, ${type}, ${SNAPSHOT}, ${NOTIFICATION}
    from transactions record where record.id = any(${ids}::text[]) order by record.position`.execute(tx)
}

/** Wakes the submit workers for the relayers of these transactions, at the commit. */
export async function wakeRelayers(tx: Tx, waking: readonly Pick<Transaction, 'relayerId'>[]): Promise<void> {
  for (const relayerId of new Set(waking.map((transaction) => transaction.relayerId))) {
    await notify(tx, WORK_CHANNEL, relayerId)
  }
}

/**
 * The columns of a transaction that an event stores: those that readers see and that change often. `readSnapshots` adds the others. Request
 * and purpose hardly ever change, so that the event gets them only when its transaction gets others (`KEEP_CONTENT` in
 * `transactions-store.ts`).
 */
const SNAPSHOT_COLUMNS = [
  'status',
  'status_reason',
  'source_account',
  'nonce',
  'current_attempt',
  'awaits_approval',
  'block_number',
  'block_hash',
  'block_time',
  'sent_at',
  'confirmed_at',
  'undecided_since',
  'stuck_since',
  'private',
  'made_public_at',
  'reorganized_at',
  'stated_hash',
] as const satisfies readonly (keyof StoredSnapshot | 'nonce' | 'block_number')[]

/** The payload of an event as the database returns it: `SNAPSHOT_COLUMNS`, and the content and the result that were lost since. Times are texts. */
export interface StoredSnapshot {
  readonly status: string
  readonly status_reason: string | null
  readonly source_account: string | null
  readonly current_attempt: number | null
  readonly awaits_approval: boolean | null
  readonly block_hash: string | null
  readonly block_time: string | null
  readonly sent_at: string | null
  readonly confirmed_at: string | null
  readonly undecided_since: string | null
  readonly stuck_since: string | null
  readonly private: boolean | null
  readonly made_public_at: string | null
  readonly reorganized_at: string | null
  readonly stated_hash: string | null
  readonly request: object
  readonly purpose: string
  readonly result: object
}

/**
 * Returns the payload of an event about the transaction, which the database would build much more slowly. The account of a nonce is omitted
 * if it is the sender's: most transactions have no other one, and `readSnapshots` adds it.
 */
function snapshotOf(state: ReturnType<typeof toState>, from: string): object {
  const isFromSender = state.nonce !== undefined && state.source_account === from
  const shown = isFromSender ? { ...state, source_account: undefined } : state
  return mapFields(shown, (value) => value, SNAPSHOT_COLUMNS)
}

/** Returns the payload of an event about the row `record`. */
const SNAPSHOT = sql`(
  select jsonb_object_agg(key, value) from jsonb_each(to_jsonb(record))
  where key = any(${SNAPSHOT_COLUMNS}::text[]) and value <> 'null')`

/** The columns that change after the transaction was stored, but for its request. */
function toState(transaction: Transaction) {
  return {
    id: transaction.id,
    relayer_id: transaction.relayerId,
    status: transaction.status,
    status_reason: transaction.statusReason && storableText(transaction.statusReason),
    purpose: transaction.purpose,
    estimated_gas: transaction.estimatedGas?.toString(),
    source_account: transaction.sourceAccount,
    nonce: transaction.nonce?.toString(),
    version: transaction.version,
    current_attempt: transaction.currentAttempt,
    cost: String(transaction.cost),
    budgeted: transaction.isBudgeted === true,
    awaits_approval: transaction.awaitsApproval,
    awaits_price: transaction.awaitsPrice,
    valid_from: transaction.request.validFrom,
    block_number: transaction.block?.number.toString(),
    block_hash: transaction.block?.hash,
    block_time: transaction.block?.time,
    next_run_at: transaction.nextRunAt,
    sent_at: transaction.sentAt,
    confirmed_at: transaction.confirmedAt,
    undecided_since: transaction.undecidedSince,
    stuck_since: transaction.stuckSince,
    private: transaction.isPrivate,
    private_since_block: transaction.privateSinceBlock?.toString(),
    made_public_at: transaction.madePublicAt,
    reorganized_at: transaction.reorganizedAt,
    stated_hash: transaction.statedHash,
  }
}

const STATE_TYPES = sql`
  id text, relayer_id text, status text, status_reason text, purpose text, estimated_gas bigint, source_account text, nonce bigint,
  version integer, current_attempt integer, cost numeric,
  budgeted boolean, awaits_approval boolean, awaits_price boolean, valid_from timestamptz, block_number bigint, block_hash text, block_time timestamptz, next_run_at timestamptz,
  sent_at timestamptz, confirmed_at timestamptz, undecided_since timestamptz, stuck_since timestamptz, private boolean,
  private_since_block bigint, made_public_at timestamptz, reorganized_at timestamptz, stated_hash text, payload jsonb, event_uid uuid`

/** The rows of `record` for new transactions: all columns, and the payload and the uid of the event. */
function newRecords(transactions: readonly Transaction[]) {
  const records = transactions.map((transaction) => ({
    ...toRecord(transaction),
    network: transaction.network,
    from_address: transaction.from,
    requested_by: transaction.requestedBy,
    top_up_of: transaction.topUpOf,
    lane: transaction.lane,
    trace_parent: transaction.traceParent,
    created_at: transaction.createdAt,
    request: encodeRequest(transaction.request),
  }))
  return recordset(
    records,
    sql`${STATE_TYPES}, network text, from_address text, requested_by text, top_up_of text, lane text, trace_parent text, created_at timestamptz,
      request jsonb`,
  )
}

/** The rows of `record` for changed transactions: the columns that may change, and the payload and the uid of the event. */
function changedRecords(transactions: readonly Transaction[]) {
  const records = transactions.map((transaction) => ({
    ...toRecord(transaction),
    request: encodeRequest(transaction.request),
  }))
  return recordset(records, sql`${STATE_TYPES}, request jsonb`)
}

/** Like `changedRecords`, without the requests. */
function stateRecords(transactions: readonly Transaction[]) {
  return recordset(transactions.map(toRecord), STATE_TYPES)
}

/** The columns that change, and the other fields of the event. The embedded engine opens a file of random bytes for each uuid that it generates. */
function toRecord(transaction: Transaction) {
  const state = toState(transaction)
  return { ...state, payload: snapshotOf(state, transaction.from), event_uid: randomUUID() }
}

/** Passes many records as one parameter: a statement has at most 65,535 parameters, and one is planned faster than many. */
function recordset(records: readonly object[], types: RawBuilder<unknown>) {
  return sql`jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as record (${types})`
}
