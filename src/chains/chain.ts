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

/** How a chain differs from the others in what the rooms have to know. Constant for each chain. */
export interface ChainTraits {
  /** Whether transactions of a line follow each other by number. */
  readonly nonces: boolean
  /** Most transactions of one line that nodes hold at the same time; absent: as many as the configuration allows. */
  readonly maxInFlightPerAccount?: number
  /**
   * Whether signed content has an end of its own (`lapsesAt`), after which the chain takes it no more and its nonce is free
   * again. Then nothing is raised, no no-op keeps `valid_until`, and no gap is filled; what lapsed is signed anew.
   */
  readonly expires: boolean
  /** `block`: the block is deep enough, or the head says that it is final; checked by hash. `receipt`: the receipt says so itself. */
  readonly finality: 'block' | 'receipt'
  /** The methods of its nodes that callers may use when a relayer's policy does not say which: those that only read. */
  readonly readMethods: readonly string[]
  /** The name of its smallest unit of money. */
  readonly unit: 'wei' | 'stroops' | 'lamports'
  /** How soon bytes that a node took are offered again, in ms, where nodes do not keep them in a pool. Absent: half a minute. */
  readonly rebroadcastAfterMs?: number
}

/**
 * Everything the rooms may ask of one concrete network. Holds no state that matters: a second instance in another
 * process gives the same answers. Only `broadcast` changes the world. A chain is given only what was read for a relayer
 * of its own type and what it prepared itself.
 */
export interface ChainOf<
  R extends ChainRequest,
  D extends Draft,
  P extends Policies,
  U extends UnsignedTransaction,
> {
  readonly traits: ChainTraits
  /** Fails when no endpoint answers as the configured network. */
  verify(): Promise<Answer<void>>
  /** An address as the chain writes it: EIP-55 on EVM. The text is a valid address in any spelling. */
  canonicalAddress(text: string): string
  /** Problems that need no network: shapes, intrinsic gas, mixed pricing, the cap. */
  check(request: R, account: Account<P>): Refusal | undefined
  /** When the caller wants it no more; undefined for never. For what passed `check`. */
  endsAt(request: R): Date | undefined
  /** The place that a request brings with it; undefined when the service gives it one. For what passed `check`. */
  externalNonce(request: R): ExternalNonce | undefined
  /** Whether the service alone can sign the content once more when it has lapsed. For what passed `check`. */
  reSignable(request: R): boolean
  /**
   * Prices and limits for a new transaction. Simulates where that is needed; `knownGas` is an earlier estimate that spares
   * it.
   */
  prepare(request: R, account: Account<P>, knownGas?: bigint): Promise<Answer<Prepared<D>> | SetupRequired<R>>
  /** A new draft that a node will take in place of all `attempts` (same nonce). */
  replace(
    request: R,
    attempts: readonly Attempt<D>[],
    account: Account<P>,
  ): Promise<Answer<Prepared<D>> | SetupRequired<R> | AfterExpiry>
  /** The content of the last one of these with a fee that beats them all; refused when it would pass the cap. */
  speedUp(attempts: readonly Attempt<D>[], level: Speed, account: Account<P>): Promise<Answer<Prepared<D>>>
  /** The request that does nothing and costs the least. */
  noop(account: Account<P>): R
  /**
   * Most transactions of this address that nodes hold at the same time, where its state is the reason; undefined for no such limit.
   * Absent on chains without.
   */
  inFlightLimit?(address: string): Promise<number | undefined>
  /** The request that opens these addresses as further lines; undefined where a chain has one line for each account. */
  openChannels(addresses: readonly string[], account: Account<P>): R | undefined
  sign(draft: D, signingContext: SigningContext): Promise<SignedDraft>
  /**
   * Every hash under which the chain can include the attempt, its own first. Absent on chains where that is the only one.
   */
  hashesOf?(attempt: Attempt<D>): readonly string[]
  /**
   * Looks at a transaction that the service will not send itself by the rules of sending, those of receivers and funds aside.
   * `sign` then signs it as it is.
   */
  review(unsigned: U, account: Account<P>): Promise<Answer<Reviewed>>
  /** Signs a message for people, over its UTF-8 bytes: EIP-191 version 0x45 on EVM, SEP-53 on Stellar, the bytes as they are on Solana. */
  signMessage(message: string, signer: Signer): Promise<MessageSignature>
  /** Signs structured data (EIP-712); refused when it is not what its types say. Absent on chains that know no such thing. */
  signTypedData?(data: TypedData, signer: Signer): Promise<Exclude<Answer<Signature>, { kind: 'unknown' }>>
  /**
   * In the order given; the results are in the same order. `held`, in the same order: nodes may hold another version with its nonce, so
   * that a price which they ask for it is the price of a replacement, and not of the market.
   */
  broadcast(raws: readonly Uint8Array[], mayBeInPool?: readonly boolean[]): Promise<BroadcastResult[]>
  head(): Promise<Answer<Head>>
  /** Whether the chain, as it was at this head, includes the draft in no later block. False when that is not known. */
  hasExpired(draft: D, head: Head): Promise<boolean>
  /**
   * Calls `listener` at each new block for as long as an endpoint tells of them by itself. It may tell late, twice or not at
   * all: a reason to look, never a fact.
   */
  onHead(listener: () => void): HeadFeed
  /**
   * The next nonce that the newest block leaves free, per address. Unknown from a node that is behind; refused with
   * `account_not_found` where the address has to be opened first.
   */
  nonces(addresses: readonly string[], freshness?: Freshness): Promise<Answer<bigint>[]>
  /** `none` is never the word of a node that is behind. */
  receipts(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[]>
  /**
   * Whether any of the attempts of one transaction is in the chain, proved for a decision that cannot be taken back. `included` names
   * the attempt by its number. `since` in `freshness` is when the oldest attempt was signed that is not yet proved to be out.
   */
  proveInclusion(attempts: readonly Attempt<D>[], freshness?: Freshness): Promise<InclusionProof>
  /** Calls of others, handed on as they are: replies in the order of the calls, to be written out and not to be read. */
  forward(calls: readonly RpcCall[]): Promise<RpcReply[]>
  /** How each endpoint has been doing, as far as it was asked. */
  endpoints(): EndpointReport[]
  /** Hash of the block at this height in the chain as it is now. Unknown from a node that is behind. */
  blockHash(number: bigint, freshness?: Freshness): Promise<Answer<string>>
  /** Why an included attempt was reverted, decoded where the node still can tell. Asked when the receipt does not say. */
  revertReason(draft: D, from: string, block: bigint): Promise<string | undefined>
  /** What the account can spend: without what the chain itself keeps back. */
  balance(address: string): Promise<Answer<bigint>>
  /** The draft's price beside the network's, for this level. */
  comparePrice(draft: D, level: Speed): Promise<Answer<PriceComparison>>
  /** Most that the draft can take from the account: what it moves, and its fee, in the smallest unit. */
  cost(draft: D): bigint
  /** What the request moves out of the account, before any fee is known. */
  amountOut(request: R): bigint
  /** What a speed means on this chain. */
  speed(level: Speed): SpeedMeaning
}

/** A chain of any kind. */
export type Chain = ChainOf<ChainRequest, Draft, Policies, UnsignedTransaction>
