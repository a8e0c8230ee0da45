import { sql } from 'kysely'
import { storableText } from '../../database/text.ts'
import { toExactJson } from '../../lib/exact-json.ts'
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
] as const

/** Gives the payload of an event about the row, which the database would build in a multiple of the time. */
function snapshotOf(row: ReturnType<typeof toRow>): object {
  return Object.fromEntries(SNAPSHOT_COLUMNS.map((column) => [column, row[column]]))
}

/** Gives the payload of an event about the row `record`. */
export const SNAPSHOT = sql`(
  select jsonb_object_agg(key, value) from jsonb_each(to_jsonb(record))
  where key = any(${SNAPSHOT_COLUMNS}::text[]) and value <> 'null')`

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

/** Passes many transactions as one parameter, the rows of `record`: a statement has at most 65,535 parameters, and one is planned faster than many. */
export function recordset(transactions: readonly Transaction[]) {
  return sql`jsonb_to_recordset(${JSON.stringify(transactions.map(toRecord))}::jsonb) as record (
    id text, relayer_id text, network text, from_address text, status text, status_reason text, purpose text,
    request jsonb, estimated_gas bigint, source_account text, nonce bigint, version integer, current_attempt integer,
    accepted_attempt integer, included_outcome text, included_result jsonb, cost numeric,
    budgeted boolean, requested_by text, top_up_of text, trace_parent text, awaits_approval boolean, private boolean, private_since_block bigint,
    made_public_at timestamptz, valid_from timestamptz, block_number bigint, block_hash text, next_run_at timestamptz, created_at timestamptz,
    sent_at timestamptz, confirmed_at timestamptz, undecided_since timestamptz, stuck_since timestamptz, reorganized_at timestamptz, payload jsonb)`
}
