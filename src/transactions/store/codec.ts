import type { Selectable } from 'kysely'
import {
  ATTEMPT_KINDS,
  ATTEMPT_OUTCOMES,
  type Attempt,
  type ChainResult,
  type Draft,
  type Signature,
} from '../../chains/attempt.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { storableText } from '../../database/sql-helpers.ts'
import type { AttemptsTable, TransactionsTable } from '../../database/tables/transactions.ts'
import { oneOf } from '../../lib/exhaustive.ts'
import { fromExactJson, toExactJson } from '../../lib/json.ts'
import { omitUndefined } from '../../lib/object.ts'
import { isNetworkType } from '../../networks/network.ts'
import type { After } from '../model/after.ts'
import {
  PURPOSES,
  TRANSACTION_STATUSES,
  type Transaction,
  type TransactionStatus,
} from '../model/transaction.ts'

/**
 * The part of a transaction's life, as the database derives it from the status for its indexes. `signed`: its
 * bytes are stored, and it is not final. Queries name the phase (`due-store.ts`), because no index has the
 * status: what an index has may not change at every step, or each step writes entries into every index.
 */
export type Phase = Exclude<TransactionStatus, 'sent' | 'submitted' | 'mined'> | 'signed'

/** Returns the phase of a status, as the generated column `transactions.phase` has it. */
export function phaseOf(status: TransactionStatus): Phase {
  return status === 'sent' || status === 'submitted' || status === 'mined' ? 'signed' : status
}

/**
 * A signature as it is stored. `sig` is absent if it consists of the other fields (`joined`), which saves a
 * seventh of a usual attempt.
 */
export type StoredSignature = Omit<Signature, 'sig'> & Partial<Pick<Signature, 'sig'>>

/** Encodes a request as plain JSON. */
export function encodeRequest(request: ChainRequest): object {
  return encodeObject(request)
}

/** Decodes the parsed JSON of the database. @throws Error if it is not a request of a known chain */
export function decodeRequest(stored: object): ChainRequest {
  return ofKnownChain<ChainRequest>(stored)
}

/** Encodes a draft as plain JSON. */
export function encodeDraft(draft: Draft): object {
  return encodeObject(draft)
}

/** Decodes the parsed JSON of the database. @throws Error if it is not a draft of a known chain */
export function decodeDraft(stored: object): Draft {
  return ofKnownChain<Draft>(stored)
}

/** Encodes a signature without what follows from its other fields. */
export function encodeSignature({ sig, ...parts }: Signature): StoredSignature {
  return sig === joined(parts) ? parts : { ...parts, sig }
}

/** Decodes a signature of the database, with `sig` or without. */
export function decodeSignature({ sig, ...parts }: StoredSignature): Signature {
  return { ...parts, sig: sig ?? joined(parts) }
}

/** The form in which Ethereum joins a signature: `r`, `s`, and `v` as one byte. */
function joined({ r, s, v }: Omit<Signature, 'sig'>): string {
  return `${r}${s}${v.toString(16).padStart(2, '0')}`
}

/** The plain JSON of an object is an object. */
function encodeObject(value: object): object {
  return toExactJson(value) as object
}

/** The service wrote the value itself, so its type implies the rest. */
function ofKnownChain<T extends { readonly type: string }>(stored: object): T {
  const value = fromExactJson(stored) as T
  if (!isNetworkType(value.type))
    throw new Error(`a stored value has the unknown network type "${value.type}"`)
  return value
}

/** The types of the columns, as the schema has them. */
type SqlType = 'text' | 'integer' | 'bigint' | 'numeric' | 'boolean' | 'timestamptz' | 'jsonb' | 'bytea'

/** A column that stores a part of `Source`. */
export interface Column<Source, Value = unknown> {
  readonly type: SqlType
  /** Returns the value to store; undefined for null. */
  readonly of: (source: Source) => Value | undefined
}

/**
 * The life of a column of a transaction. `fixed`: written once · `content`: hardly ever changes, so that
 * readers of events find it in the row, and the earlier events get the former value when it changes ·
 * `state`: each event has it · `internal`: no reader of an event sees it.
 */
type ColumnKind = 'fixed' | 'content' | 'state' | 'internal'

/** A column of `transactions`. */
interface TransactionColumn<Value = unknown> extends Column<Transaction, Value> {
  readonly kind: ColumnKind
}

/**
 * The columns of both tables that no record has: the database derives them, or a reset of the chain writes
 * them.
 */
export const COLUMNS_OF_QUERIES = {
  transactions: ['position', 'phase', 'reset_at'],
  attempts: ['reset_at'],
} as const

/** A row of `transactions`, without the columns that only queries use. */
export type TransactionRow = Omit<
  Selectable<TransactionsTable>,
  (typeof COLUMNS_OF_QUERIES.transactions)[number]
>

/**
 * Every column of a transaction, said once: the statements that insert, change and announce transactions and
 * those that read their events derive from it. A column of `TransactionsTable` that is missing here does not
 * compile.
 */
export const TRANSACTION_COLUMNS = {
  id: { type: 'text', kind: 'fixed', of: (t) => t.id },
  relayer_id: { type: 'text', kind: 'fixed', of: (t) => t.relayerId },
  network: { type: 'text', kind: 'fixed', of: (t) => t.network },
  from_address: { type: 'text', kind: 'fixed', of: (t) => t.from },
  created_at: { type: 'timestamptz', kind: 'fixed', of: (t) => t.createdAt },
  top_up_of: { type: 'text', kind: 'fixed', of: (t) => t.topUpOf },
  lane: { type: 'text', kind: 'fixed', of: (t) => t.lane },
  reference: { type: 'text', kind: 'fixed', of: (t) => t.reference },
  description: { type: 'text', kind: 'fixed', of: (t) => t.description },
  schedule_id: { type: 'text', kind: 'fixed', of: (t) => t.scheduleId },
  user_id: { type: 'text', kind: 'fixed', of: (t) => t.userId },
  requested_by: { type: 'text', kind: 'fixed', of: (t) => t.requestedBy },
  trace_parent: { type: 'text', kind: 'fixed', of: (t) => t.traceParent },
  after_transaction: { type: 'jsonb', kind: 'fixed', of: (t) => t.after },
  request: { type: 'jsonb', kind: 'content', of: (t) => encodeRequest(t.request) },
  purpose: { type: 'text', kind: 'content', of: (t) => t.purpose },
  status: { type: 'text', kind: 'state', of: (t) => t.status },
  status_reason: {
    type: 'text',
    kind: 'state',
    of: (t) => t.statusReason && storableText(t.statusReason),
  },
  source_account: { type: 'text', kind: 'state', of: (t) => t.sourceAccount },
  nonce: { type: 'bigint', kind: 'state', of: (t) => t.nonce },
  current_attempt: { type: 'integer', kind: 'state', of: (t) => t.currentAttempt },
  awaits_approval: { type: 'boolean', kind: 'state', of: (t) => t.awaitsApproval },
  awaits_transaction: { type: 'text', kind: 'state', of: (t) => t.awaitsTransaction },
  block_number: { type: 'bigint', kind: 'state', of: (t) => t.block?.number },
  block_hash: { type: 'text', kind: 'state', of: (t) => t.block?.hash },
  block_time: { type: 'timestamptz', kind: 'state', of: (t) => t.block?.time },
  sent_at: { type: 'timestamptz', kind: 'state', of: (t) => t.sentAt },
  confirmed_at: { type: 'timestamptz', kind: 'state', of: (t) => t.confirmedAt },
  undecided_since: { type: 'timestamptz', kind: 'state', of: (t) => t.undecidedSince },
  stuck_since: { type: 'timestamptz', kind: 'state', of: (t) => t.stuckSince },
  private: { type: 'boolean', kind: 'state', of: (t) => t.isPrivate },
  made_public_at: { type: 'timestamptz', kind: 'state', of: (t) => t.madePublicAt },
  reorganized_at: { type: 'timestamptz', kind: 'state', of: (t) => t.reorganizedAt },
  stated_hash: { type: 'text', kind: 'state', of: (t) => t.statedHash },
  version: { type: 'integer', kind: 'internal', of: (t) => t.version },
  estimated_gas: { type: 'bigint', kind: 'internal', of: (t) => t.estimatedGas },
  cost: { type: 'numeric', kind: 'internal', of: (t) => t.cost },
  budgeted: { type: 'boolean', kind: 'internal', of: (t) => t.isBudgeted === true },
  awaits_price: { type: 'boolean', kind: 'internal', of: (t) => t.awaitsPrice },
  valid_from: { type: 'timestamptz', kind: 'internal', of: (t) => t.request.validFrom },
  released_at: { type: 'timestamptz', kind: 'internal', of: (t) => t.releasedAt },
  next_run_at: { type: 'timestamptz', kind: 'internal', of: (t) => t.nextRunAt },
  private_since_block: { type: 'bigint', kind: 'internal', of: (t) => t.privateSinceBlock },
} as const satisfies {
  readonly [C in keyof TransactionRow]: TransactionColumn<NonNullable<TransactionRow[C]>>
}

/** A row of `transactions` with the columns of this kind alone. */
export type ColumnsOfKind<Kind extends ColumnKind> = Pick<
  TransactionRow,
  {
    [C in keyof TransactionRow]: (typeof TRANSACTION_COLUMNS)[C]['kind'] extends Kind ? C : never
  }[keyof TransactionRow]
>

/** Columns of a transaction by name. */
export type TransactionColumns = Readonly<Record<string, TransactionColumn>>

/** Picks the columns of a transaction that are of these kinds. */
export function columnsOf(...kinds: readonly ColumnKind[]): TransactionColumns {
  return Object.fromEntries(
    Object.entries(TRANSACTION_COLUMNS).filter(([, { kind }]) => kinds.includes(kind)),
  )
}

/** A row of `attempts`, without the columns that only queries use. */
export type AttemptRow = Omit<Selectable<AttemptsTable>, (typeof COLUMNS_OF_QUERIES.attempts)[number]>

/** A signed attempt of a transaction. */
export interface OwnedAttempt {
  readonly transactionId: string
  readonly attempt: Attempt
}

/** Every column of an attempt, said once, like `TRANSACTION_COLUMNS`. */
export const ATTEMPT_COLUMNS = {
  transaction_id: { type: 'text', of: ({ transactionId }) => transactionId },
  number: { type: 'integer', of: ({ attempt }) => attempt.number },
  kind: { type: 'text', of: ({ attempt }) => attempt.kind },
  source_account: { type: 'text', of: ({ attempt }) => attempt.sourceAccount },
  nonce: { type: 'bigint', of: ({ attempt }) => attempt.nonce },
  hash: { type: 'text', of: ({ attempt }) => attempt.signed.hash },
  inner_hash: { type: 'text', of: ({ attempt }) => attempt.signed.innerHash },
  raw: { type: 'bytea', of: ({ attempt }) => attempt.signed.raw },
  draft: { type: 'jsonb', of: ({ attempt }) => encodeDraft(attempt.draft) },
  signature: { type: 'jsonb', of: ({ attempt }) => encodeSignature(attempt.signed.signature) },
  outcome: { type: 'text', of: ({ attempt }) => attempt.outcome },
  error: { type: 'text', of: ({ attempt }) => attempt.error && storableText(attempt.error) },
  refusals: { type: 'integer', of: ({ attempt }) => attempt.refusals ?? 0 },
  result: { type: 'jsonb', of: ({ attempt }) => attempt.result && encodeObject(attempt.result) },
  signed_at: { type: 'timestamptz', of: ({ attempt }) => attempt.signedAt },
  broadcast_at: { type: 'timestamptz', of: ({ attempt }) => attempt.broadcastAt },
} as const satisfies { readonly [C in keyof AttemptRow]: Column<OwnedAttempt, NonNullable<AttemptRow[C]>> }

/**
 * Encodes columns of a record as plain JSON, from which the database reads the values by the types of the
 * columns (`recordset`).
 */
export function encodeColumns<Source>(
  source: Source,
  columns: Readonly<Record<string, Column<Source>>>,
): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (const [name, { of }] of Object.entries(columns)) {
    const value = of(source)
    if (value !== undefined) row[name] = encodeValue(value)
  }
  return row
}

function encodeValue(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value
}

/** The types whose values are texts in JSON: a parser would round the numbers (I10). */
export const EXACT: readonly SqlType[] = ['bigint', 'numeric']

function decodeValue(type: SqlType, value: unknown): unknown {
  if (value === null) return null
  if (EXACT.includes(type)) return BigInt(value as string)
  return type === 'timestamptz' ? new Date(value as string) : value
}

/**
 * Decodes columns of a transaction from JSON. Those that it does not have are as in `absent`, and null by
 * default.
 */
export function decodeColumns(
  json: Readonly<Record<string, unknown>>,
  columns: TransactionColumns,
  absent: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (const [name, { type }] of Object.entries(columns))
    row[name] = name in json ? decodeValue(type, json[name]) : (absent[name] ?? null)
  return row
}

/** Converts a row to a transaction. */
export function toTransaction(row: TransactionRow): Transaction {
  return {
    id: row.id,
    relayerId: row.relayer_id,
    network: row.network,
    from: row.from_address,
    status: oneOf(TRANSACTION_STATUSES, row.status, 'status'),
    statusReason: row.status_reason ?? undefined,
    createdAt: row.created_at,
    sentAt: row.sent_at ?? undefined,
    confirmedAt: row.confirmed_at ?? undefined,
    request: decodeRequest(row.request),
    purpose: oneOf(PURPOSES, row.purpose, 'purpose'),
    estimatedGas: row.estimated_gas ?? undefined,
    sourceAccount: row.source_account ?? undefined,
    nonce: row.nonce ?? undefined,
    version: row.version,
    currentAttempt: row.current_attempt ?? undefined,
    cost: row.cost,
    isBudgeted: row.budgeted || undefined,
    requestedBy: row.requested_by ?? undefined,
    topUpOf: row.top_up_of ?? undefined,
    scheduleId: row.schedule_id ?? undefined,
    lane: row.lane ?? undefined,
    reference: row.reference ?? undefined,
    description: row.description ?? undefined,
    userId: row.user_id ?? undefined,
    traceParent: row.trace_parent ?? undefined,
    awaitsApproval: row.awaits_approval ?? undefined,
    awaitsPrice: row.awaits_price ?? undefined,
    // The service wrote it itself.
    after: (row.after_transaction as After | null) ?? undefined,
    awaitsTransaction: row.awaits_transaction ?? undefined,
    releasedAt: row.released_at ?? undefined,
    block:
      row.block_number === null || row.block_hash === null
        ? undefined
        : omitUndefined({
            number: row.block_number,
            hash: row.block_hash,
            time: row.block_time ?? undefined,
          }),
    nextRunAt: row.next_run_at,
    undecidedSince: row.undecided_since ?? undefined,
    stuckSince: row.stuck_since ?? undefined,
    isPrivate: row.private ?? undefined,
    privateSinceBlock: row.private_since_block ?? undefined,
    madePublicAt: row.made_public_at ?? undefined,
    reorganizedAt: row.reorganized_at ?? undefined,
    statedHash: row.stated_hash ?? undefined,
  } satisfies Record<keyof Transaction, unknown>
}

/** Converts a stored result of an attempt. The service wrote the value itself. */
export function toResult(stored: object | null): ChainResult | undefined {
  return stored === null ? undefined : (fromExactJson(stored) as ChainResult)
}

/** Converts a row to an attempt. */
export function toAttempt(row: AttemptRow): Attempt {
  return omitUndefined({
    number: row.number,
    kind: oneOf(ATTEMPT_KINDS, row.kind, 'kind of attempt'),
    sourceAccount: row.source_account,
    nonce: row.nonce ?? undefined,
    draft: decodeDraft(row.draft),
    signed: omitUndefined({
      raw: row.raw,
      hash: row.hash,
      innerHash: row.inner_hash ?? undefined,
      signature: decodeSignature(row.signature),
    }),
    signedAt: row.signed_at,
    broadcastAt: row.broadcast_at ?? undefined,
    outcome: oneOf(ATTEMPT_OUTCOMES, row.outcome, 'outcome of attempt'),
    error: row.error ?? undefined,
    refusals: row.refusals === 0 ? undefined : row.refusals,
    result: toResult(row.result),
  } satisfies Record<keyof Attempt, unknown>)
}
