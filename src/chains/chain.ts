import type { Signer } from '../signers/signer.ts'
import type {
  Answer,
  BroadcastResult,
  EndpointReport,
  Freshness,
  Head,
  HeadFeed,
  InclusionProof,
  PriceComparison,
  ReceiptAnswer,
  Refusal,
} from './answer.ts'
import type { Attempt, Draft, MessageSignature, Signature, SignedDraft } from './attempt.ts'
import type { EvmPolicies, EvmRequest, TypedData } from './evm/content.ts'
import type { RpcCall, RpcReply } from './rpc/rpc.ts'
import type { SolanaPolicies, SolanaRequest } from './solana/content.ts'
import type { Speed } from './speed.ts'
import type { StellarPolicies, StellarRequest } from './stellar/content.ts'
import type { UnsignedTransaction } from './unsigned.ts'

/** The request of any chain. */
export type ChainRequest = EvmRequest | StellarRequest | SolanaRequest

/** The rules of a relayer of any chain. */
export type Policies = EvmPolicies | StellarPolicies | SolanaPolicies

/** The account on whose behalf a question is asked. */
export interface Account<P extends Policies = Policies> {
  readonly address: string
  readonly policies: P
}

/** A prepared draft with what the service changed or decided on the way, in sentences for `metadata.logs`. */
export interface Prepared<D extends Draft = Draft> {
  readonly draft: D
  readonly logs: readonly string[]
  /** To be given to the next `prepare` of the same request: spares its simulation. */
  readonly knownGas?: bigint
}

/** Something else has to be included first; `request` does it. */
export interface SetupRequired<R extends ChainRequest = ChainRequest> {
  readonly kind: 'setup'
  readonly request: R
  /** Why, as a sentence for a person. */
  readonly detail: string
}

/** Both the earlier attempts and the new content could be included, so the new content is signed when those have lapsed. */
export interface AfterExpiry {
  readonly kind: 'after_expiry'
  readonly detail: string
}

/** An address that gives nonces, and the key that signs for it. */
export interface SourceAccount {
  readonly address: string
  readonly signer: Signer
}

/** A transaction that may be signed, as far as the chain is concerned. */
export interface Reviewed {
  /** What it asks for, where that can be said as a request. */
  readonly request?: ChainRequest
  /** The most that it can take from the account, in the smallest unit. */
  readonly cost: bigint
  sign(signer: Signer): Promise<SignedDraft>
}

/** With what a draft is signed. */
export interface SigningContext {
  /** Whose nonce is taken. Without a signer where somebody else has signed the content for it. */
  readonly sourceAccount: { readonly address: string; readonly signer: Signer | undefined }
  /** Absent on chains without nonces. */
  readonly nonce: bigint | undefined
  /** The relayer's own account: it pays, and what the content does is done in its name. */
  readonly account: SourceAccount
}

/** The nonce that a request brings with it, because somebody else has signed its content. */
export interface ExternalNonce {
  readonly address: string
  readonly nonce: bigint
}

/** What a speed means on a chain. */
export interface SpeedMeaning {
  readonly priceMultiplier: number
  readonly raiseAfterSeconds: number
}

/** The name of the smallest unit of a chain's native currency. */
export type Unit = 'wei' | 'stroops' | 'lamports'

/** Transactions of one source account follow each other by number: a nonce (EVM) or a sequence number (Stellar). */
export interface Sequencing {
  /** The most transactions of one source account that nodes keep at the same time. Absent: as many as the configuration allows. */
  readonly maxInFlight?: number
  /**
   * The next nonce that the newest block leaves free, per address. Unknown from a node that is behind; refused with
   * `account_not_found` where the address has to be opened first.
   */
  nonces(addresses: readonly string[], freshness?: Freshness): Promise<Answer<bigint>[]>
  /**
   * The most transactions of this address that nodes keep at the same time because of its state on chain (EIP-7702). Undefined: no such
   * limit.
   */
  inFlightLimit?(address: string): Promise<number | undefined>
}

/**
 * Signed content expires by itself (`expiresAt`): after that the chain includes it no more and its nonce is free again. So no fee is
 * raised to hurry it, no no-op enforces `valid_until` and no nonce gap is filled; expired content is signed again.
 */
export interface Expiry<R extends ChainRequest = ChainRequest, D extends Draft = Draft> {
  /** Whether the chain, as of this head, includes the draft in no later block. False when that is not known. */
  hasExpired(draft: D, head: Head): Promise<boolean>
  /** Whether the service alone can sign the content again after it expired. The request has passed `check`. */
  reSignable(request: R): boolean
}

/** The fee of signed content can be raised while it waits. */
export interface FeeBump<D extends Draft = Draft, P extends Policies = Policies> {
  /** The content of the last attempt with a fee that beats them all; refused when it would exceed the cap. */
  speedUp(attempts: readonly Attempt<D>[], level: Speed, account: Account<P>): Promise<Answer<Prepared<D>>>
}

/** A relayer can send from several source accounts (Stellar channel accounts) at the same time. */
export interface Channels<R extends ChainRequest = ChainRequest, P extends Policies = Policies> {
  /** The request that creates these addresses as channel accounts. */
  open(addresses: readonly string[], account: Account<P>): R
}

/** A request can bring content that somebody else has signed for a nonce of their own. */
export interface ExternalSigning<R extends ChainRequest = ChainRequest> {
  /** The nonce that the request brings; undefined when the service assigns it. The request has passed `check`. */
  nonceOf(request: R): ExternalNonce | undefined
}

/** Structured data can be signed (EIP-712). */
export interface TypedDataSigning {
  /** Refused when the data does not match its types. */
  sign(data: TypedData, signer: Signer): Promise<Exclude<Answer<Signature>, { kind: 'unknown' }>>
}

/** Inclusion is final by the depth of its block, which is checked by hash. Without this capability the receipt itself is final. */
export interface BlockFinality {
  /** The hash of the block at this height in the chain as it is now. Unknown from a node that is behind. */
  blockHash(number: bigint, freshness?: Freshness): Promise<Answer<string>>
}

/** Endpoints announce new blocks by themselves. */
export interface HeadSubscription {
  /** Calls `listener` at each announced block. An announcement may come late, twice or never: it is a reason to look, not a fact. */
  subscribe(listener: () => void): HeadFeed
}

/** A reverted transaction does not tell its reason in the receipt; a node can still find it. */
export interface RevertReasons<D extends Draft = Draft> {
  /** Decoded; undefined when no node can tell any more. */
  read(draft: D, from: string, block: bigint): Promise<string | undefined>
}

/** One attempt can be included under several hashes (Stellar, CAP-15: the fee bump's and its inner transaction's). */
export interface InclusionHashes<D extends Draft = Draft> {
  /** Every hash under which the chain can include the attempt, its own first. */
  of(attempt: Attempt<D>): readonly string[]
}

/** What only some chains can do. A capability that is absent does not exist on the chain. */
export interface ChainCapabilities<R extends ChainRequest, D extends Draft, P extends Policies> {
  readonly sequencing?: Sequencing
  readonly expiry?: Expiry<R, D>
  readonly feeBump?: FeeBump<D, P>
  readonly channels?: Channels<R, P>
  readonly externalSigning?: ExternalSigning<R>
  readonly typedData?: TypedDataSigning
  readonly blockFinality?: BlockFinality
  readonly headSubscription?: HeadSubscription
  readonly revertReasons?: RevertReasons<D>
  readonly inclusionHashes?: InclusionHashes<D>
}

/**
 * What every chain does for one concrete network. A chain holds no state that matters: a second instance in another process gives the
 * same answers. Only `broadcast` changes the world. A chain receives only what was read for a relayer of its own type and what it
 * prepared itself.
 */
export interface ChainOf<
  R extends ChainRequest,
  D extends Draft,
  P extends Policies,
  U extends UnsignedTransaction,
> extends ChainCapabilities<R, D, P> {
  readonly unit: Unit
  /** The RPC methods that callers may use when a relayer's policy does not list any: those that only read. */
  readonly readMethods: readonly string[]
  /** How soon bytes that a node accepted are broadcast again, in ms, where nodes do not keep them in a pool. Absent: half a minute. */
  readonly rebroadcastAfterMs?: number
  /** Fails when no endpoint answers as the configured network. */
  verify(): Promise<Answer<void>>
  /** An address as the chain writes it: EIP-55 on EVM. The text is a valid address in any spelling. */
  canonicalAddress(text: string): string
  /** Problems that need no network: shapes, intrinsic gas, mixed pricing, the cap. */
  check(request: R, account: Account<P>): Refusal | undefined
  /** When the caller no longer wants it; undefined for never. The request has passed `check`. */
  endsAt(request: R): Date | undefined
  /** Prices and limits for a new transaction. Simulates where that is needed; `knownGas` is an earlier estimate that spares it. */
  prepare(request: R, account: Account<P>, knownGas?: bigint): Promise<Answer<Prepared<D>> | SetupRequired<R>>
  /** A new draft that a node accepts instead of all `attempts` (same nonce). */
  replace(
    request: R,
    attempts: readonly Attempt<D>[],
    account: Account<P>,
  ): Promise<Answer<Prepared<D>> | SetupRequired<R> | AfterExpiry>
  /** The request that does nothing and costs the least. */
  noop(account: Account<P>): R
  sign(draft: D, signingContext: SigningContext): Promise<SignedDraft>
  /**
   * Checks a transaction that the service will not send itself by the rules for sending, except those for receivers and funds.
   * `sign` of the result signs it as it is.
   */
  review(unsigned: U, account: Account<P>): Promise<Answer<Reviewed>>
  /** Signs a message for people, over its UTF-8 bytes: EIP-191 version 0x45 on EVM, SEP-53 on Stellar, the bytes as they are on Solana. */
  signMessage(message: string, signer: Signer): Promise<MessageSignature>
  /**
   * In the order given; the results are in the same order. `mayBeInPool`, in the same order: nodes may hold another version with its
   * nonce, so a price that they ask for is the price of a replacement and not of the market.
   */
  broadcast(raws: readonly Uint8Array[], mayBeInPool?: readonly boolean[]): Promise<BroadcastResult[]>
  head(): Promise<Answer<Head>>
  /** A node that is behind never causes the answer `none`. */
  receipts(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[]>
  /**
   * Whether the chain includes any of the attempts of one transaction, proved for a decision that cannot be taken back. `included` names
   * the attempt by its number. `since` in `freshness` is when the oldest attempt was signed that is not yet proved to be out.
   */
  proveInclusion(attempts: readonly Attempt<D>[], freshness?: Freshness): Promise<InclusionProof>
  /** Forwards calls of API callers unchanged. Replies keep the order of the calls; they are written out and never read. */
  forward(calls: readonly RpcCall[]): Promise<RpcReply[]>
  /** The state of each endpoint, as far as it was asked. */
  endpoints(): EndpointReport[]
  /** What the account can spend: without what the chain itself keeps back. */
  balance(address: string): Promise<Answer<bigint>>
  /** The draft's price beside the network's, for this level. */
  comparePrice(draft: D, level: Speed): Promise<Answer<PriceComparison>>
  /** The most that the draft can take from the account, its fee included, in the smallest unit. */
  cost(draft: D): bigint
  /** The amount that the request moves out of the account, before any fee is known. */
  amountOut(request: R): bigint
  /** The meaning of a speed on this chain. */
  speed(level: Speed): SpeedMeaning
}

/** A chain of any kind. */
export type Chain = ChainOf<ChainRequest, Draft, Policies, UnsignedTransaction>
