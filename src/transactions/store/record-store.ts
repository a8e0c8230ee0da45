import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { storableText } from '../../database/text.ts'
import { mapFields } from '../../lib/object.ts'
import type { Transaction } from '../model/transaction.ts'
import { encodeRequest } from './codec.ts'

/**
 * The columns of a transaction that an event stores: those that readers see and that change again and again. `readSnapshots` adds the others.
 * Request and purpose hardly ever change, so that the event gets them only when its transaction gets others (`KEEP_CONTENT` in `transactions-store.ts`).
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
] as const satisfies readonly (keyof StoredSnapshot | 'nonce' | 'block_number')[]

/** The payload of an event as the database returns it: `SNAPSHOT_COLUMNS`, and the content that the transaction has lost since. Times are texts. */
export interface StoredSnapshot {
  readonly status: string
  readonly status_reason: string | null
  readonly source_account: string | null
  readonly current_attempt: number | null
  readonly awaits_approval: boolean | null
  readonly block_hash: string | null
  readonly sent_at: string | null
  readonly confirmed_at: string | null
  readonly undecided_since: string | null
  readonly stuck_since: string | null
  readonly private: boolean | null
  readonly made_public_at: string | null
  readonly reorganized_at: string | null
  readonly request: object
  readonly purpose: string
}

/**
 * Gives the payload of an event about the transaction, which the database would build in a multiple of the time. The account of a nonce is left
 * out when it is the sender's: most transactions have no other one, and `readSnapshots` adds it.
 */
function snapshotOf(state: ReturnType<typeof toState>, from: string): object {
  const isFromSender = state.nonce !== undefined && state.source_account === from
  const shown = isFromSender ? { ...state, source_account: undefined } : state
  return mapFields(shown, (value) => value, SNAPSHOT_COLUMNS)
}

/** Gives the payload of an event about the row `record`. */
export const SNAPSHOT = sql`(
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
    next_run_at: transaction.nextRunAt,
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

const STATE_TYPES = sql`
  id text, relayer_id text, status text, status_reason text, purpose text, estimated_gas bigint, source_account text, nonce bigint,
  version integer, current_attempt integer, cost numeric,
  budgeted boolean, awaits_approval boolean, awaits_price boolean, valid_from timestamptz, block_number bigint, block_hash text, next_run_at timestamptz,
  sent_at timestamptz, confirmed_at timestamptz, undecided_since timestamptz, stuck_since timestamptz, private boolean,
  private_since_block bigint, made_public_at timestamptz, reorganized_at timestamptz, payload jsonb, event_uid uuid`

/** The rows of `record` for new transactions: all columns, and the payload and the uid of the event. */
export function newRecords(transactions: readonly Transaction[]) {
  const records = transactions.map((transaction) => ({
    ...toRecord(transaction),
    network: transaction.network,
    from_address: transaction.from,
    requested_by: transaction.requestedBy,
    top_up_of: transaction.topUpOf,
    trace_parent: transaction.traceParent,
    created_at: transaction.createdAt,
    request: encodeRequest(transaction.request),
  }))
  return recordset(
    records,
    sql`${STATE_TYPES}, network text, from_address text, requested_by text, top_up_of text, trace_parent text, created_at timestamptz,
      request jsonb`,
  )
}

/** The rows of `record` for changed transactions: the columns that may change, and the payload and the uid of the event. */
export function changedRecords(transactions: readonly Transaction[]) {
  const records = transactions.map((transaction) => ({
    ...toRecord(transaction),
    request: encodeRequest(transaction.request),
  }))
  return recordset(records, sql`${STATE_TYPES}, request jsonb`)
}

/** As `changedRecords`, without the requests. */
export function stateRecords(transactions: readonly Transaction[]) {
  return recordset(transactions.map(toRecord), STATE_TYPES)
}

/** The columns that change, and what the event has besides. The embedded engine opens a file of random bytes for each uuid that it makes itself. */
function toRecord(transaction: Transaction) {
  const state = toState(transaction)
  return { ...state, payload: snapshotOf(state, transaction.from), event_uid: randomUUID() }
}

/** Passes many records as one parameter: a statement has at most 65,535 parameters, and one is planned faster than many. */
function recordset(records: readonly object[], types: RawBuilder<unknown>) {
  return sql`jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as record (${types})`
}
