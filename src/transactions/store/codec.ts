import type { Attempt, AttemptKind, AttemptOutcome, ChainResult, Draft } from '../../chains/attempt.ts'
import type { ChainRequest } from '../../chains/chain.ts'
import type { EvmDraft, EvmRequest, Fees } from '../../chains/evm/content.ts'
import type { SolanaDraft, SolanaRequest } from '../../chains/solana/content.ts'
import type { Speed } from '../../chains/speed.ts'
import type { StellarDraft, StellarRequest } from '../../chains/stellar/content.ts'
import { fromExactJson, toExactJson } from '../../lib/exact-json.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import type { Purpose, Transaction, TransactionStatus } from '../model/transaction.ts'

/** Not every reader of jsonb keeps integers exact, so amounts are decimal strings in it (I10). */
interface StoredEvmRequest {
  to?: string
  value: string
  data?: string
  gas_limit?: string
  gas_price?: string
  max_fee_per_gas?: string
  max_priority_fee_per_gas?: string
  speed?: Speed
  valid_until?: string
}

interface StoredEvmDraft {
  to?: string
  value: string
  data: string
  gas_limit: string
  gas_price?: string
  max_fee_per_gas?: string
  max_priority_fee_per_gas?: string
}

/** A row of `transactions` as both drivers return it. */
export interface TransactionRow {
  id: string
  relayer_id: string
  network: string
  from_address: string
  status: string
  status_reason: string | null
  purpose: string
  request: object
  estimated_gas: bigint | null
  source_account: string | null
  nonce: bigint | null
  version: number
  current_attempt: number | null
  cost: bigint
  block_number: bigint | null
  block_hash: string | null
  next_run_at: Date
  created_at: Date
  sent_at: Date | null
  confirmed_at: Date | null
  undecided_since: Date | null
  stuck_since: Date | null
  reorganized_at: Date | null
}

/** A row of `attempts` as both drivers return it. */
export interface AttemptRow {
  transaction_id: string
  number: number
  kind: string
  source_account: string
  nonce: bigint | null
  hash: string
  inner_hash: string | null
  raw: Uint8Array
  draft: object
  signature: Attempt['signed']['signature']
  outcome: string
  error: string | null
  result: object | null
  signed_at: Date
  broadcast_at: Date | null
}

/** Encodes a request for storage. EVM requests keep the form of the first release; requests of other chains are exact JSON. */
export function encodeRequest(request: ChainRequest): unknown {
  return request.type === 'evm' ? encodeEvmRequest(request) : toExactJson(request)
}

/** Decodes a stored request, in the form of any release. */
export function decodeRequest(stored: object): ChainRequest {
  return 'type' in stored
    ? (fromExactJson(stored) as StellarRequest | SolanaRequest)
    : decodeEvmRequest(stored)
}

/** Encodes signed content for storage, in the same two forms as a request. */
export function encodeDraft(draft: Draft): unknown {
  return draft.type === 'evm' ? encodeEvmDraft(draft) : toExactJson(draft)
}

/** Decodes stored content, in the form of any release. */
export function decodeDraft(stored: object): Draft {
  return 'type' in stored ? (fromExactJson(stored) as StellarDraft | SolanaDraft) : decodeEvmDraft(stored)
}

function encodeEvmRequest(request: EvmRequest): StoredEvmRequest {
  return omitUndefined({
    to: request.to,
    value: String(request.value),
    data: request.data,
    gas_limit: request.gasLimit?.toString(),
    gas_price: request.gasPrice?.toString(),
    max_fee_per_gas: request.maxFeePerGas?.toString(),
    max_priority_fee_per_gas: request.maxPriorityFeePerGas?.toString(),
    speed: request.speed,
    valid_until: request.validUntil?.toISOString(),
  })
}

function decodeEvmRequest(stored: object): EvmRequest {
  const request = stored as StoredEvmRequest
  return omitUndefined({
    type: 'evm' as const,
    to: request.to,
    value: BigInt(request.value),
    data: request.data,
    gasLimit: toBigint(request.gas_limit),
    gasPrice: toBigint(request.gas_price),
    maxFeePerGas: toBigint(request.max_fee_per_gas),
    maxPriorityFeePerGas: toBigint(request.max_priority_fee_per_gas),
    speed: request.speed,
    validUntil: request.valid_until === undefined ? undefined : new Date(request.valid_until),
  })
}

function encodeEvmDraft({ fees, ...draft }: EvmDraft): StoredEvmDraft {
  const prices =
    fees.kind === 'legacy'
      ? { gas_price: String(fees.gasPrice) }
      : {
          max_fee_per_gas: String(fees.maxFeePerGas),
          max_priority_fee_per_gas: String(fees.maxPriorityFeePerGas),
        }
  return omitUndefined({
    to: draft.to,
    value: String(draft.value),
    data: draft.data,
    gas_limit: String(draft.gasLimit),
    ...prices,
  })
}

function decodeEvmDraft(stored: object): EvmDraft {
  const draft = stored as StoredEvmDraft
  const fees: Fees =
    draft.gas_price === undefined
      ? {
          kind: 'eip1559',
          maxFeePerGas: BigInt(draft.max_fee_per_gas ?? 0),
          maxPriorityFeePerGas: BigInt(draft.max_priority_fee_per_gas ?? 0),
        }
      : { kind: 'legacy', gasPrice: BigInt(draft.gas_price) }
  const content = {
    type: 'evm' as const,
    value: BigInt(draft.value),
    data: draft.data,
    gasLimit: BigInt(draft.gas_limit),
    fees,
  }
  return draft.to === undefined ? content : { to: draft.to, ...content }
}

/** Converts a row to a transaction. */
export function toTransaction(row: TransactionRow): Transaction {
  return {
    id: row.id,
    relayerId: row.relayer_id,
    network: row.network,
    from: row.from_address,
    status: row.status as TransactionStatus,
    statusReason: row.status_reason ?? undefined,
    createdAt: row.created_at,
    sentAt: row.sent_at ?? undefined,
    confirmedAt: row.confirmed_at ?? undefined,
    request: decodeRequest(row.request),
    purpose: row.purpose as Purpose,
    estimatedGas: row.estimated_gas ?? undefined,
    sourceAccount: row.source_account ?? undefined,
    nonce: row.nonce ?? undefined,
    version: row.version,
    currentAttempt: row.current_attempt ?? undefined,
    cost: row.cost,
    block:
      row.block_number === null || row.block_hash === null
        ? undefined
        : { number: row.block_number, hash: row.block_hash },
    nextRunAt: row.next_run_at,
    undecidedSince: row.undecided_since ?? undefined,
    stuckSince: row.stuck_since ?? undefined,
    reorganizedAt: row.reorganized_at ?? undefined,
  }
}

/** Converts a row to an attempt. */
export function toAttempt(row: AttemptRow): Attempt {
  const attempt = {
    number: row.number,
    kind: row.kind as AttemptKind,
    sourceAccount: row.source_account,
    draft: decodeDraft(row.draft),
    signed: omitUndefined({
      raw: row.raw,
      hash: row.hash,
      innerHash: row.inner_hash ?? undefined,
      signature: row.signature,
    }),
    signedAt: row.signed_at,
    outcome: row.outcome as AttemptOutcome,
  }
  return omitUndefined({
    ...attempt,
    nonce: row.nonce ?? undefined,
    broadcastAt: row.broadcast_at ?? undefined,
    error: row.error ?? undefined,
    result: row.result === null ? undefined : (fromExactJson(row.result) as ChainResult),
  })
}

function toBigint(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text)
}
