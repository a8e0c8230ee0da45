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
import type { AttemptsTable, TransactionsTable } from '../../database/tables/transactions.ts'
import { oneOf } from '../../lib/exhaustive.ts'
import { fromExactJson, toExactJson } from '../../lib/json.ts'
import { omitUndefined } from '../../lib/object.ts'
import { isNetworkType } from '../../networks/network.ts'
import {
  PURPOSES,
  TRANSACTION_STATUSES,
  type Transaction,
  type TransactionStatus,
} from '../model/transaction.ts'

/**
 * The part of a transaction's life, as the database derives it from the status for its indexes. `signed`: its bytes are stored, and it is not
 * final. Queries name the phase (`due-store.ts`), because no index has the status: what an index has may not change at every step, or each step
 * writes entries into every index.
 */
export type Phase = Exclude<TransactionStatus, 'sent' | 'submitted' | 'mined'> | 'signed'

/** Returns the phase of a status, as the generated column `transactions.phase` has it. */
export function phaseOf(status: TransactionStatus): Phase {
  return status === 'sent' || status === 'submitted' || status === 'mined' ? 'signed' : status
}

/** A row of `transactions`, without the columns that only queries use. */
export type TransactionRow = Omit<
  Selectable<TransactionsTable>,
  'position' | 'phase' | 'valid_from' | 'reset_at'
>

/** A signature as it is stored. `sig` is absent if it consists of the other fields (`joined`), which saves a seventh of a usual attempt. */
export type StoredSignature = Omit<Signature, 'sig'> & Partial<Pick<Signature, 'sig'>>

/** A row of `attempts`, without the columns that only queries use. */
export type AttemptRow = Omit<Selectable<AttemptsTable>, 'reset_at'>

/** Encodes a request as plain JSON. */
export function encodeRequest(request: ChainRequest): unknown {
  return toExactJson(request)
}

/** Decodes the parsed JSON of the database. @throws Error if it is not a request of a known chain */
export function decodeRequest(stored: object): ChainRequest {
  return ofKnownChain<ChainRequest>(stored)
}

/** Encodes a draft as plain JSON. */
export function encodeDraft(draft: Draft): unknown {
  return toExactJson(draft)
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

/** The service wrote the value itself, so its type implies the rest. */
function ofKnownChain<T extends { readonly type: string }>(stored: object): T {
  const value = fromExactJson(stored) as T
  if (!isNetworkType(value.type))
    throw new Error(`a stored value has the unknown network type "${value.type}"`)
  return value
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
    lane: row.lane ?? undefined,
    traceParent: row.trace_parent ?? undefined,
    awaitsApproval: row.awaits_approval ?? undefined,
    awaitsPrice: row.awaits_price ?? undefined,
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
  }
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
  })
}
