import { type Transaction as DbTransaction, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Attempt } from '../../chains/attempt.ts'
import { notify } from '../../database/notify.ts'
import type { Schema } from '../../database/schema.ts'
import { storableText } from '../../database/text.ts'
import type { IncidentType } from '../../events/event.ts'
import { toExactJson } from '../../lib/exact-json.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { reportFinished } from '../model/observer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionStatus, TransactionWithAttempts } from '../model/transaction.ts'
import { ATTEMPT_COLUMNS_BESIDE } from './attempt-columns-store.ts'
import { type AttemptRow, encodeRequest, type TransactionRow, toAttempt, toTransaction } from './codec.ts'
import { addToCounts, countTransactions, isFinal } from './finished-store.ts'
import { phaseOf } from './phase.ts'

/** The channel that wakes the submit workers of every process. The payload is a relayer id. */
export const WORK_CHANNEL = 'transactions_due'

/** The notification that gets an event: the one that the relayer has when the event happens. */
const NOTIFICATION = sql`(select notification_id from relayers where relayers.id = record.relayer_id)`

type Db = Kysely<Schema>
type Tx = DbTransaction<Schema>

/**
 * The columns of a transaction that an event stores: those that readers see and that change again and again. `readSnapshots` adds the others.
 * Request and purpose hardly ever change, so that the event gets them only when its transaction gets others (`KEEP_CONTENT`).
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
  'sent_at',
  'confirmed_at',
  'undecided_since',
  'stuck_since',
  'private',
  'made_public_at',
  'reorganized_at',
] as const

/** Gives the payload of an event about the row, which the database would build in a multiple of the time. */
function snapshotOf(row: ReturnType<typeof toRow>): object {
  return Object.fromEntries(SNAPSHOT_COLUMNS.map((column) => [column, row[column]]))
}

/** Gives the payload of an event about the row `record`. */
const SNAPSHOT = sql`(
  select jsonb_object_agg(key, value) from jsonb_each(to_jsonb(record))
  where key = any(${SNAPSHOT_COLUMNS}::text[]) and value <> 'null')`

/** The transactions with another request or purpose than before. */
const CONTENT_CHANGED = sql`
  select before.id, before.request, before.purpose from before join record on record.id = before.id
  where before.request is distinct from record.request or before.purpose <> record.purpose`

/**
 * Writes the former request and purpose into the events of the transactions that get others. It is a part of the statement that changes them,
 * so that every reader finds either the old content in the transaction or the event that has it. The array makes the database use the index of
 * the events whatever it expects; nearly always it is empty.
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
    with record as materialized (select * from ${recordset(transactions)}),
    stored as (
      insert into transactions (id, relayer_id, network, from_address, status, status_reason, purpose, request,
        estimated_gas, source_account, nonce, cost, budgeted, requested_by, top_up_of, trace_parent, awaits_approval, private, valid_from,
        next_run_at, created_at)
      select id, relayer_id, network, from_address, status, status_reason, purpose, request, estimated_gas, source_account, nonce,
        cost, budgeted, requested_by, top_up_of, trace_parent, awaits_approval, private, valid_from, next_run_at, created_at
      from record
    ),
    counted as (${addToCounts(sql`select relayer_id, status from record where ${isFinal(sql`status`)}`)})
    insert into events (relayer_id, transaction_id, type, payload, notification_id)
    select relayer_id, id, 'transaction_update', payload, ${NOTIFICATION} from record`.execute(tx)
  await wakeWorkers(tx, transactions)
}

/**
 * Writes transactions, each guarded by the version that was read, and in the same statement the events of those whose status, attempt, wait
 * for an approval or publicity changed (I8). Returns the written ones in the same order; another writer changed the others first.
 */
export async function saveTransactions(tx: Tx, transactions: readonly Transaction[]): Promise<Transaction[]> {
  if (transactions.length === 0) return []
  const { rows } = await sql<{ id: string }>`
    with record as materialized (select * from ${recordset(transactions)}),
    before as (
      select t.id, t.status, t.current_attempt, t.awaits_approval, t.made_public_at, t.request, t.purpose from transactions t
      join record on record.id = t.id and record.version = t.version
      order by t.id for update of t
    ),
    written as (
      update transactions t set
        status = record.status, status_reason = record.status_reason, purpose = record.purpose,
        request = record.request, estimated_gas = record.estimated_gas, source_account = record.source_account, nonce = record.nonce,
        version = t.version + 1, current_attempt = record.current_attempt,
        accepted_attempt = record.accepted_attempt, included_outcome = record.included_outcome, included_result = record.included_result,
        cost = record.cost, budgeted = record.budgeted,
        awaits_approval = record.awaits_approval, valid_from = record.valid_from, block_number = record.block_number, block_hash = record.block_hash, next_run_at = record.next_run_at, sent_at = record.sent_at,
        confirmed_at = record.confirmed_at, undecided_since = record.undecided_since, stuck_since = record.stuck_since,
        private = record.private, private_since_block = record.private_since_block, made_public_at = record.made_public_at,
        reorganized_at = record.reorganized_at
      from record join before on before.id = record.id
      where t.id = record.id
      returning t.id,
        before.status <> t.status or before.current_attempt is distinct from t.current_attempt
          or before.awaits_approval is distinct from t.awaits_approval
          or before.made_public_at is distinct from t.made_public_at as is_event,
        ${isFinal(sql`t.status`)} and not (${isFinal(sql`before.status`)}) as is_finished
    ),
    content_changed as materialized (${CONTENT_CHANGED}),
    content_kept as (${KEEP_CONTENT}),
    announced as (
      insert into events (relayer_id, transaction_id, type, payload, notification_id)
      select record.relayer_id, record.id, 'transaction_update', record.payload, ${NOTIFICATION}
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

/** Runs `saveTransactions` in a database transaction of its own, and reports to the observer after the commit. */
export async function saveInOwnTransaction(
  context: TransactionsContext,
  transactions: readonly Transaction[],
): Promise<Transaction[]> {
  const saved = await context.db.transaction().execute((tx) => saveTransactions(tx, transactions))
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

/** Finds a transaction of this relayer; undefined for the id of another relayer's transaction. */
export async function findTransaction(
  db: Db,
  relayerId: string,
  id: string,
): Promise<TransactionWithAttempts | undefined> {
  const [item] = await findTransactions(db, relayerId, [id])
  return item
}

/** Finds transactions of this relayer, newest first; the ids of other relayers' transactions are left out. */
export async function findTransactions(
  db: Db,
  relayerId: string,
  ids: readonly string[],
): Promise<TransactionWithAttempts[]> {
  return readWithAttempts(
    db,
    sql`select * from transactions where relayer_id = ${relayerId} and id = any(${ids}::text[])`,
  )
}

/** Reads transactions of any relayer, newest first by the order of acceptance. The caller has checked that they may be seen. */
export async function readTransactions(db: Db, ids: readonly string[]): Promise<TransactionWithAttempts[]> {
  if (ids.length === 0) return []
  return readWithAttempts(db, sql`select * from transactions where id = any(${ids}::text[])`)
}

/**
 * Reads transactions with their attempts, newest first. It is one statement, so that both are of the same moment: two would show an attempt of
 * which the transaction knows nothing yet.
 */
async function readWithAttempts(
  db: Db,
  transactions: RawBuilder<unknown>,
): Promise<TransactionWithAttempts[]> {
  const { rows } = await sql<TransactionRow & RowBeside>`
    select t.*, ${ATTEMPT_COLUMNS_BESIDE}
    from (${transactions}) t left join attempts a on a.transaction_id = t.id
    order by t.position desc, a.number`.execute(db)
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((those) =>
    those.slice(0, 1).map((row) => ({ transaction: toTransaction(row), attempts: those.flatMap(attemptIn) })),
  )
}

/** The columns of an attempt in a row of its transaction; all of them are null where it has none. */
interface RowBeside extends Omit<AttemptRow, 'number' | 'source_account' | 'nonce'> {
  readonly number: number | null
  readonly attempt_source_account: string
  readonly attempt_nonce: bigint | null
}

function attemptIn(row: RowBeside): Attempt[] {
  const { number, attempt_source_account: source_account, attempt_nonce: nonce } = row
  return number === null ? [] : [toAttempt({ ...row, number, source_account, nonce })]
}

/** Finds the transaction with this nonce of the relayer's own account, on the present chain of the relayer's present network. */
export async function findByNonce(
  db: Db,
  { id, network, address }: Pick<Relayer, 'id' | 'network' | 'address'>,
  nonce: bigint,
): Promise<TransactionWithAttempts | undefined> {
  const [item] = await readWithAttempts(
    db,
    sql`select * from transactions where relayer_id = ${id} and network = ${network} and source_account = ${address}
      and nonce = ${nonce} and reset_at is null`,
  )
  return item
}

interface ListQuery {
  readonly relayerId: string
  readonly status?: TransactionStatus | undefined
  readonly offset: number
  readonly limit: number
}

/** Lists the relayer's transactions with their attempts, newest first. `total` counts all of them. */
export async function listTransactions(
  db: Db,
  query: ListQuery,
): Promise<{ items: TransactionWithAttempts[]; total: number }> {
  const { relayerId, status, offset, limit } = query
  // The phase is a literal, because a partial index applies in every plan only then.
  const ofStatus = status && sql`and phase = ${sql.lit(phaseOf(status))} and status = ${status}`
  const [total, items] = await Promise.all([
    countTransactions(db, query),
    limit === 0
      ? []
      : readWithAttempts(
          db,
          sql`select * from transactions where relayer_id = ${relayerId} ${ofStatus ?? sql``}
            order by position desc limit ${limit} offset ${offset}`,
        ),
  ])
  return { items, total }
}

/** Statuses that give the submitter work: new content to sign, or a free slot for waiting transactions. */
const WAKING: readonly TransactionStatus[] = ['pending', 'mined', 'expired', 'canceled', 'failed']

async function wakeWorkers(tx: Tx, transactions: readonly Transaction[]): Promise<void> {
  const waking = transactions.filter(
    ({ status, awaitsApproval }) => WAKING.includes(status) && awaitsApproval !== true,
  )
  await wakeRelayers(tx, waking)
}

/** Wakes the submit workers for the relayers of these transactions, at the commit. */
export async function wakeRelayers(tx: Tx, waking: readonly Pick<Transaction, 'relayerId'>[]): Promise<void> {
  for (const relayerId of new Set(waking.map((transaction) => transaction.relayerId))) {
    await notify(tx, WORK_CHANNEL, relayerId)
  }
}

function toRecord(transaction: Transaction) {
  const row = toRow(transaction)
  return { ...row, payload: snapshotOf(row) }
}

function toRow(transaction: Transaction) {
  return {
    id: transaction.id,
    relayer_id: transaction.relayerId,
    network: transaction.network,
    from_address: transaction.from,
    status: transaction.status,
    status_reason: transaction.statusReason && storableText(transaction.statusReason),
    purpose: transaction.purpose,
    request: encodeRequest(transaction.request),
    estimated_gas: transaction.estimatedGas?.toString(),
    source_account: transaction.sourceAccount,
    nonce: transaction.nonce?.toString(),
    version: transaction.version,
    current_attempt: transaction.currentAttempt,
    accepted_attempt: transaction.acceptedAttempt,
    included_outcome: transaction.inclusion?.outcome,
    included_result: transaction.inclusion?.result && toExactJson(transaction.inclusion.result),
    cost: String(transaction.cost),
    budgeted: transaction.isBudgeted === true,
    requested_by: transaction.requestedBy,
    top_up_of: transaction.topUpOf,
    trace_parent: transaction.traceParent,
    awaits_approval: transaction.awaitsApproval,
    valid_from: transaction.request.validFrom,
    block_number: transaction.block?.number.toString(),
    block_hash: transaction.block?.hash,
    next_run_at: transaction.nextRunAt,
    created_at: transaction.createdAt,
    sent_at: transaction.sentAt,
    confirmed_at: transaction.confirmedAt,
    undecided_since: transaction.undecidedSince,
    stuck_since: transaction.stuckSince,
    private: transaction.isPrivate,
    private_since_block: transaction.privateSinceBlock?.toString(),
    made_public_at: transaction.madePublicAt,
    reorganized_at: transaction.reorganizedAt,
  }
}

/** Passes many rows as one parameter: a statement has at most 65,535 parameters, and one is planned faster than many. */
function recordset(transactions: readonly Transaction[]) {
  return sql`jsonb_to_recordset(${JSON.stringify(transactions.map(toRecord))}::jsonb) as record (
    id text, relayer_id text, network text, from_address text, status text, status_reason text, purpose text,
    request jsonb, estimated_gas bigint, source_account text, nonce bigint, version integer, current_attempt integer,
    accepted_attempt integer, included_outcome text, included_result jsonb, cost numeric,
    budgeted boolean, requested_by text, top_up_of text, trace_parent text, awaits_approval boolean, private boolean, private_since_block bigint,
    made_public_at timestamptz, valid_from timestamptz, block_number bigint, block_hash text, next_run_at timestamptz, created_at timestamptz,
    sent_at timestamptz, confirmed_at timestamptz, undecided_since timestamptz, stuck_since timestamptz, reorganized_at timestamptz, payload jsonb)`
}
