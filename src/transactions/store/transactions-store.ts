import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { notify, recordset, typesOf } from '../../database/sql-helpers.ts'
import type { IncidentType } from '../../events/event.ts'
import { mapFields } from '../../lib/object.ts'
import { reportFinished } from '../model/observer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionStatus } from '../model/transaction.ts'
import { columnsOf, EXACT, encodeColumns, TRANSACTION_COLUMNS, type TransactionColumns } from './codec.ts'
import { addToCounts, isFinal } from './finished-store.ts'
import { insertTerms } from './terms-store.ts'

/**
 * The channel that wakes the submit workers of every process. The payload is the id of a relayer that has
 * something to sign.
 */
export const WORK_CHANNEL = 'transactions_due'

/** The channel for the ids of relayers that have a free slot, for which often nothing waits. */
export const SLOT_CHANNEL = 'slots_free'

/**
 * The notification that gets an event, as it is when the event happens: the one for the reference of the
 * transaction and who requested it, or that of the relayer. Any key may use any reference.
 */
const NOTIFICATION = sql`coalesce(
  (select notifications.id from notifications
    where notifications.reference = record.reference and notifications.requested_by = record.requested_by),
  (select notification_id from relayers where relayers.id = record.relayer_id))`

/** Statuses that leave a slot to waiting transactions. */
const FREEING: readonly TransactionStatus[] = ['mined', 'expired', 'canceled', 'failed']

/** Wakes the submit workers at the commit, when the new status of `record` may give them work. */
const WAKE_WORKERS = sql`case
  when record.status = 'pending' and record.awaits_approval is not true and record.awaits_transaction is null
    then pg_notify(${WORK_CHANNEL}, record.relayer_id)
  when record.status = any(${FREEING as TransactionStatus[]}::text[]) then pg_notify(${SLOT_CHANNEL}, record.relayer_id) end`

const CONTENT = Object.keys(columnsOf('content'))

/** Builds a part of a statement for each of these columns. */
function each(columns: readonly string[], part: (name: string) => string, separator = ', ') {
  return sql.raw(columns.map(part).join(separator))
}

const ALL = written(TRANSACTION_COLUMNS)
const ALL_COLUMNS = each(Object.keys(TRANSACTION_COLUMNS), (name) => name)

/** The parts of `saveTransactions` for the columns that it writes. */
function savedParts(columns: TransactionColumns) {
  const names = Object.keys(columns).filter((name) => name !== 'id' && name !== 'version')
  const content = CONTENT.filter((name) => names.includes(name))
  return {
    ...written(columns),
    assignments: each(names, (name) => `${name} = record.${name}`),
    /** The transactions with another content than before. */
    contentChanged: sql`
      select before.id, ${each(CONTENT, (name) => `before.${name}`)} from before join record on record.id = before.id
      where ${each(content, (name) => `before.${name} is distinct from record.${name}`, ' or ')}`,
  }
}

const { request, ...OTHERS } = columnsOf('content', 'state', 'internal')
const WITHOUT_REQUEST = savedParts({ id: TRANSACTION_COLUMNS.id, ...OTHERS })
const WITH_REQUEST = savedParts({ ...WITHOUT_REQUEST.columns, request: TRANSACTION_COLUMNS.request })

/**
 * Writes the former content into the events of the transactions that get others. It is part of the statement
 * that changes them, so that every reader finds either the old content in the transaction or the event that
 * has it. The array makes the database use the index of the events regardless of its estimates; it is nearly
 * always empty.
 */
const KEEP_CONTENT = sql`
  update events e set payload = jsonb_build_object(${each(CONTENT, (name) => `'${name}', content_changed.${name}`)}) || e.payload
  from content_changed
  where e.transaction_id = content_changed.id and e.type <> 'alert'
    and e.transaction_id = any(array(select id from content_changed))`

/** Stores new transactions and their events, in this order (I8). */
export async function insertTransactions(tx: Tx, transactions: readonly Transaction[]): Promise<void> {
  if (transactions.length === 0) return
  await sql`
    with record as materialized (select * from ${recordsOf(transactions, ALL)}),
    stored as (insert into transactions (${ALL_COLUMNS}) select ${ALL_COLUMNS} from record returning id, relayer_id, position),
    found as (${insertTerms(transactions, sql`stored`)}),
    counted as (${addToCounts(sql`select relayer_id, status from record where ${isFinal(sql`status`)}`)}),
    announced as (
      insert into events (uid, relayer_id, transaction_id, type, payload, notification_id)
      select event_uid, relayer_id, id, 'transaction_update', payload, ${NOTIFICATION} from record)
    select ${WAKE_WORKERS} from record`.execute(tx)
}

interface SaveOptions {
  /**
   * No request is written: each transaction has the one that was read with its version. A request may have
   * many kilobytes, and most steps change none. Default: false.
   */
  readonly keepsRequest?: boolean
}

/**
 * Writes transactions, each guarded by the version that was read, and in the same statement the events of
 * those whose status, attempt, wait for an approval or another transaction, or publicity changed (I8).
 * Returns the written ones in the same order; another writer changed the others first.
 */
export async function saveTransactions(
  tx: Tx,
  transactions: readonly Transaction[],
  { keepsRequest = false }: SaveOptions = {},
): Promise<Transaction[]> {
  if (transactions.length === 0) return []
  const parts = keepsRequest ? WITHOUT_REQUEST : WITH_REQUEST
  const found = keepsRequest ? sql`` : sql`found as (${insertTerms(transactions, sql`written`)}),`
  // The order of locks: database/locks/lock-order.md.
  const { rows } = await sql<{ id: string }>`
    with record as materialized (select * from ${recordsOf(transactions, parts)}),
    before as (
      select t.id, t.status, t.current_attempt, t.awaits_approval, t.awaits_transaction, t.made_public_at, ${each(CONTENT, (name) => `t.${name}`)}
      from transactions t
      join record on record.id = t.id and record.version = t.version
      order by t.id for update of t
    ),
    written as (
      update transactions t set ${parts.assignments}, version = t.version + 1
      from record join before on before.id = record.id
      where t.id = record.id
      returning t.id, t.relayer_id, t.reference, t.requested_by, t.position, t.status, t.awaits_approval, t.awaits_transaction, record.payload, record.event_uid,
        before.status <> t.status or before.current_attempt is distinct from t.current_attempt
          or before.awaits_approval is distinct from t.awaits_approval
          or before.awaits_transaction is distinct from t.awaits_transaction
          or before.made_public_at is distinct from t.made_public_at as is_event,
        ${isFinal(sql`t.status`)} and not (${isFinal(sql`before.status`)}) as is_finished
    ),
    ${found}
    content_changed as materialized (${parts.contentChanged}),
    content_kept as (${KEEP_CONTENT}),
    announced as (
      insert into events (uid, relayer_id, transaction_id, type, payload, notification_id)
      select event_uid, relayer_id, id, 'transaction_update', payload, ${NOTIFICATION} from written record where is_event
    ),
    counted as (${addToCounts(sql`select relayer_id, status from written where is_finished`)})
    select id, ${WAKE_WORKERS} from written record`.execute(tx)
  const saved = new Set(rows.map((row) => row.id))
  return transactions
    .filter((transaction) => saved.has(transaction.id))
    .map((transaction) => ({ ...transaction, version: transaction.version + 1 }))
}

/**
 * Runs `saveTransactions` in a separate database transaction, and reports to the observer after the commit.
 */
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
 * Stores the event of an incident, with a snapshot of each transaction. Call it after the change, in the same
 * database transaction (I8).
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

const STATE = columnsOf('state')

/**
 * Returns the payload of an event about the row `record`: as `snapshotOf`, and with the account of each
 * nonce.
 */
const SNAPSHOT = sql`jsonb_strip_nulls(jsonb_build_object(${sql.raw(
  Object.entries(STATE)
    .map(([name, { type }]) => `'${name}', record.${name}${EXACT.includes(type) ? '::text' : ''}`)
    .join(', '),
)}))`

/**
 * The rows of `record` for these columns of the transactions, with the payloads and the uids of their events.
 * The embedded engine opens a file of random bytes for each uuid that it generates.
 */
function recordsOf(transactions: readonly Transaction[], { columns, types }: ReturnType<typeof written>) {
  const records = transactions.map((transaction) => {
    const row = encodeColumns(transaction, columns)
    row.payload = snapshotOf(row, transaction.from)
    row.event_uid = randomUUID()
    return row
  })
  return recordset(records, types)
}

/** The columns that a statement writes, and the types of its records. */
function written(columns: TransactionColumns) {
  const types = typesOf({ ...columns, payload: { type: 'jsonb' }, event_uid: { type: 'uuid' } })
  return { columns, types }
}

const IN_EVENTS = Object.keys(STATE)
const OF_SENDER = IN_EVENTS.filter((name) => name !== 'source_account')

/**
 * Returns the payload of an event about the transaction, which the database would build much more slowly. The
 * account of a nonce is omitted if it is the sender's: most transactions have no other one, and
 * `readSnapshots` adds it.
 */
function snapshotOf(row: Readonly<Record<string, unknown>>, from: string): object {
  const isFromSender = row.nonce !== undefined && row.source_account === from
  return mapFields(row, (value) => value, isFromSender ? OF_SENDER : IN_EVENTS)
}
