import type { EmittedIn } from '../../chains/answer.ts'
import type { Attempt, Draft, SignedDraft } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Speed } from '../../chains/speed.ts'
import type { Data, Input, Schemas } from '../../contract/operations.ts'
import type { Db } from '../../database/db.ts'
import type { NetworkOf, NetworkType } from '../../networks/network.ts'
import type { Built, Quoted } from '../../sponsoring/sponsor.ts'
import type { Transaction } from '../../transactions/model/transaction.ts'
import type { AccountState } from '../../transactions/requests/account-state.ts'

/** The body of a request to send or replace, and an item of a batch. */
export type RequestBody = Input<'sendTransaction'>['body']

/** The request, draft, record in the contract, and network of each type of networks. */
type Forms = {
  readonly [T in NetworkType]: {
    readonly request: Extract<ChainRequest, { readonly type: T }>
    readonly draft: Extract<Draft, { readonly type: T }>
    readonly record: Extract<Schemas['Transaction'], { network_type: T }>
    readonly network: NetworkOf<T>
  }
}

/** Fields that may be undefined, which `omitUndefined` then leaves out. */
type Loose<T> = { readonly [Name in keyof T]: T[Name] | undefined }

/** The transfers of content, in the form of the contract. */
export type ShownTransfers = Loose<Pick<Schemas['EvmTransaction'], 'transfers' | 'transfers_truncated'>>

/** The fields that the records of every type have. */
export type CommonRecord = Pick<
  Schemas['EvmTransaction'],
  'id' | 'relayer_id' | 'status' | 'created_at' | 'from'
> &
  Loose<
    Pick<
      Schemas['EvmTransaction'],
      | 'status_reason'
      | 'after'
      | 'awaits_approval'
      | 'awaits_transaction'
      | 'undecided_since'
      | 'top_up_of'
      | 'schedule_id'
      | 'lane'
      | 'reference'
      | 'description'
      | 'no_op'
      | 'valid_from'
      | 'sent_at'
      | 'confirmed_at'
      | 'hash'
      | 'signature'
    >
  > &
  ShownTransfers

/** A record, and what explains it. */
export interface RecordParts<T extends NetworkType> {
  readonly common: CommonRecord
  readonly transaction: Transaction
  readonly request: Forms[T]['request']
  /** Reads the transfers of the request, which few records show besides those of the shown attempt. */
  readonly requestedTransfers: () => ShownTransfers
  /** The attempt that counts; undefined while nothing is signed. */
  readonly shown: Attempt | undefined
  /** Absent for a relayer that was removed; then the meaning of its speed is unknown. */
  readonly chain: Pick<Chain, 'speed'> | undefined
}

/** The receipt of a record, with what its transaction emitted. */
export interface EmittedParts {
  readonly db: Db
  readonly chain: Pick<Chain, 'contractCalls' | 'canonicalAddress'>
  readonly told: EmittedIn
  readonly common: Pick<Schemas['TransactionReceipt'], 'transaction_id' | 'succeeded' | 'truncated'>
}

/** The fields that networks of every type have. */
type SharedOfNetworks =
  | 'id'
  | 'name'
  | 'network_type'
  | 'rpc_urls'
  | 'explorer_urls'
  | 'average_blocktime_ms'
  | 'head'
  | 'is_testnet'
  | 'tags'
  | 'tokens'

/**
 * The form that the contract gives to what a type of networks has of its own: it reads bodies of its group,
 * and writes records, attempts, receipts, accounts and networks.
 */
export interface Codec<T extends NetworkType = NetworkType> {
  /** Tells whether a body belongs to the group. */
  accepts(body: RequestBody): boolean
  /** The fields of the group, for the caller of another one. */
  readonly expected: string
  /** Converts a body that `accepts` recognises. @throws AppError `invalid_request` with the field */
  readRequest(body: RequestBody, chain: Chain): Forms[T]['request']
  /** The fields of the request to sign a transaction, for the caller of another type. */
  readonly unsignedFields: string
  /** Writes signed bytes in the form that the tools of the type write and existing clients read. */
  presentSigned(signed: SignedDraft): Data<'signTransaction'>
  /** Writes a record, with the content of the newest request if the shown attempt has another one. */
  presentRecord(parts: RecordParts<T>): Forms[T]['record']
  /** Adds the attempts to a record. */
  withAttempts(
    shown: Forms[T]['record'],
    attempts: readonly Attempt<Forms[T]['draft']>[],
    from: string,
  ): Schemas['TransactionWithAttempts']
  /** Tells whether a raise of the fee of this draft executes nothing: it then repeats a no-op. */
  isEmpty?(request: Forms[T]['request'], draft: Forms[T]['draft']): boolean
  /** Adds to a receipt what the transaction emitted; undefined for a record without a receipt. */
  presentEmitted(
    transaction: Forms[T]['record'],
    parts: EmittedParts,
  ): Promise<Schemas['TransactionReceipt'] | undefined>
  /** Writes the limit of gas of a draft and its price. */
  presentGas?(draft: Forms[T]['draft']): Partial<Schemas['DryRun']>
  /** Writes the number that orders the transactions of an account, as its tools show it. */
  presentNumber?(
    state: Pick<AccountState, 'nextNonce' | 'chainNonce'>,
  ): Partial<Loose<Pick<Schemas['RelayerStatus'], 'nonce' | 'sequence_number'>>>
  /** Writes what users pay for fees in tokens. Absent where they pay no fees. */
  readonly sponsored?: SponsoredForm
  /** Writes the fields of a network that only this type has. */
  presentNetwork(network: Forms[T]['network']): Partial<Loose<Omit<Schemas['Network'], SharedOfNetworks>>>
}

/** The form of transactions whose fees users pay in tokens. */
export interface SponsoredForm {
  presentQuote(quoted: Quoted): Data<'quoteSponsoredTransaction'>
  presentBuild(built: Built): Data<'buildSponsoredTransaction'>
}

/** The speed of a request that names neither a speed nor a price. */
export const DEFAULT_SPEED: Speed = 'fast'

/** The purposes of a transaction whose shown attempt may not be what its caller asked for last. */
export const OTHER_CONTENT: ReadonlySet<Transaction['purpose']> = new Set([
  'successor',
  'cancel',
  'expire',
  'abandon',
])

/** Writes the fields that the attempts of every type have. */
export function presentCommonAttempt(attempt: Attempt) {
  return {
    number: attempt.number,
    kind: attempt.kind,
    outcome: attempt.outcome,
    hash: attempt.signed.hash,
    signed_at: attempt.signedAt.toISOString(),
    broadcast_at: attempt.broadcastAt?.toISOString(),
    error: attempt.error,
  }
}

/**
 * Returns the nonce of an attempt.
 * @throws Error if it has none, which is possible only on a chain without nonces
 */
export function requireNonce({ number, nonce }: Attempt): bigint {
  if (nonce === undefined) throw new Error(`attempt ${number} has no nonce`)
  return nonce
}
