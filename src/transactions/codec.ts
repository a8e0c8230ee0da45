import type {
  Attempt,
  AttemptKind,
  AttemptOutcome,
  ChainRequest,
  Draft,
  Fees,
  Speed,
} from '../chains/chain.ts'
import type { Intent, Transaction, TransactionStatus } from './transaction.ts'

/** jsonb has no exact integers that every reader keeps, so amounts are decimal strings inside it (I10). */
interface StoredRequest {
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

interface StoredDraft {
  to?: string
  value: string
  data: string
  gas_limit: string
  gas_price?: string
  max_fee_per_gas?: string
  max_priority_fee_per_gas?: string
}

/** A row of `transactions` as both drivers give it. */
export interface TransactionRow {
  id: string
  relayer_id: string
  network: string
  from_address: string
  status: string
  status_reason: string | null
  intent: string
  request: object
  estimated_gas: bigint | null
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
}

/** A row of `attempts` as both drivers give it. */
export interface AttemptRow {
  transaction_id: string
  number: number
  kind: string
  nonce: bigint
  hash: string
  raw: Uint8Array
  draft: object
  signature: Attempt['signed']['signature']
  outcome: string
  error: string | null
  signed_at: Date
  broadcast_at: Date | null
}

export function encodeRequest(request: ChainRequest): StoredRequest {
  return defined({
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

export function decodeRequest(stored: object): ChainRequest {
  const request = stored as StoredRequest
  return defined({
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

export function encodeDraft({ fees, ...draft }: Draft): StoredDraft {
  const prices =
    fees.kind === 'legacy'
      ? { gas_price: String(fees.gasPrice) }
      : {
          max_fee_per_gas: String(fees.maxFeePerGas),
          max_priority_fee_per_gas: String(fees.maxPriorityFeePerGas),
        }
  return defined({
    to: draft.to,
    value: String(draft.value),
    data: draft.data,
    gas_limit: String(draft.gasLimit),
    ...prices,
  })
}

export function decodeDraft(stored: object): Draft {
  const draft = stored as StoredDraft
  const fees: Fees =
    draft.gas_price === undefined
      ? {
          kind: 'eip1559',
          maxFeePerGas: BigInt(draft.max_fee_per_gas ?? 0),
          maxPriorityFeePerGas: BigInt(draft.max_priority_fee_per_gas ?? 0),
        }
      : { kind: 'legacy', gasPrice: BigInt(draft.gas_price) }
  const content = { value: BigInt(draft.value), data: draft.data, gasLimit: BigInt(draft.gas_limit), fees }
  return draft.to === undefined ? content : { to: draft.to, ...content }
}

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
    intent: row.intent as Intent,
    estimatedGas: row.estimated_gas ?? undefined,
    nonce: row.nonce ?? undefined,
    version: row.version,
    currentAttempt: row.current_attempt ?? undefined,
    cost: row.cost,
    block:
      row.block_number === null || row.block_hash === null
        ? undefined
        : { number: row.block_number, hash: row.block_hash },
    nextRunAt: row.next_run_at,
  }
}

export function toAttempt(row: AttemptRow): Attempt {
  const attempt = {
    number: row.number,
    kind: row.kind as AttemptKind,
    nonce: row.nonce,
    draft: decodeDraft(row.draft),
    signed: { raw: row.raw, hash: row.hash, signature: row.signature },
    signedAt: row.signed_at,
    outcome: row.outcome as AttemptOutcome,
  }
  return defined({ ...attempt, broadcastAt: row.broadcast_at ?? undefined, error: row.error ?? undefined })
}

function toBigint(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text)
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The object without the keys that hold `undefined`. */
function defined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>
}
