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
import type { ContractCalls } from './call/contract-calls.ts'
import type { CallResult } from './call/problem.ts'
import type { Effects } from './effects.ts'
import type { EvmPolicies, EvmRequest, TypedData } from './evm/content.ts'
import type { PrivateBroadcast } from './private-broadcast.ts'
import type { RpcCall, RpcReply } from './rpc/rpc.ts'
import type { EncodedInstruction, IdlCall, SolanaPolicies, SolanaRequest } from './solana/content.ts'
import type { Speed } from './speed.ts'
import type { StellarPolicies, StellarRequest } from './stellar/content.ts'
import type { UnsignedTransaction } from './unsigned.ts'

/** The request of any chain. */
export type ChainRequest = EvmRequest | StellarRequest | SolanaRequest

/** The rules of a relayer of any chain. */
export type Policies = EvmPolicies | StellarPolicies | SolanaPolicies

/** The account on whose behalf the caller asks. */
export interface Account<P extends Policies = Policies> {
  readonly address: string
  readonly policies: P
}

/** A prepared draft. `logs` tell in sentences what the service changed or decided, for `metadata.logs`. */
export interface Prepared<D extends Draft = Draft> {
  readonly draft: D
  readonly logs: readonly string[]
  /** The next `prepare` of the same request can use this estimate and skip its simulation. */
  readonly knownGas?: bigint
  /**
   * A sentence that tells that the chain includes externally signed content already, because a third party sent it. A new request is refused
   * with it; content that was accepted before is signed all the same, so that its inclusion is found.
   */
  readonly included?: string
}

/** Another transaction must be included first; `request` describes it. */
export interface SetupRequired<R extends ChainRequest = ChainRequest> {
  readonly kind: 'setup'
  readonly request: R
  /** The reason, as a sentence for a person. */
  readonly detail: string
}

/** The earlier attempts and the new content could both be included, so the service signs the new content after those have expired. */
export interface AfterExpiry {
  readonly kind: 'after_expiry'
  readonly detail: string
  /** The highest amount that the new content can take from the account; absent when nothing is to be signed, or no node told its price. */
  readonly cost?: bigint
}

/** An address that provides nonces, and the key that signs for it. */
export interface SourceAccount {
  readonly address: string
  readonly signer: Signer
}

/** A transaction that the chain's rules allow to sign. */
export interface Reviewed {
  /** The content as a request, where a request can express it. */
  readonly request?: ChainRequest
  readonly effects: Effects
  /** The highest amount that it can take from the account, in the smallest unit. */
  readonly cost: bigint
  sign(signer: Signer): Promise<SignedDraft>
}

/** An authorization of smart contract calls that the chain's rules allow to sign. */
export interface ReviewedAuthorization {
  /** The effects of all calls that it authorizes. */
  readonly effects: Effects
  /** The SHA-256, in hex, that is signed. */
  readonly sha256: string
  sign(signer: Signer): Promise<MessageSignature>
}

/** The accounts and the nonce with which the service signs a draft. */
export interface SigningContext {
  /** The account whose nonce is used. It has no signer when an external signer has signed the content for it. */
  readonly sourceAccount: { readonly address: string; readonly signer: Signer | undefined }
  /** The nonce of the transaction; undefined on chains without nonces. */
  readonly nonce: bigint | undefined
  /** The relayer's own account: it pays, and the content acts in its name. */
  readonly account: SourceAccount
}

/** The nonce of a request whose content an external signer has signed. */
export interface ExternalNonce {
  readonly address: string
  readonly nonce: bigint
}

/** The meaning of a speed on a chain. */
export interface SpeedMeaning {
  readonly priceMultiplier: number
  readonly raiseAfterSeconds: number
}

/** The name of the smallest unit of a chain's native currency. */
export type Unit = 'wei' | 'stroops' | 'lamports'

/** Transactions of one source account follow each other by number: a nonce (EVM) or a sequence number (Stellar). */
export interface Sequencing {
  /** The highest number of transactions of one source account that nodes keep at the same time. Default: the configured number. */
  readonly maxInFlight?: number
  /**
   * Reads the next free nonce of each address in the newest block. Returns unknown when the node is behind, and refuses with
   * `account_not_found` when the address does not exist on the chain yet.
   */
  nonces(addresses: readonly string[], freshness?: Freshness): Promise<Answer<bigint>[]>
  /** Reads the nonce after the last transaction of this address that a node would include next; undefined when no node told it. */
  pendingNonce?(address: string): Promise<bigint | undefined>
  /**
   * Reads the highest number of transactions that nodes keep of this address because of its state on chain (EIP-7702); undefined for no
   * such limit.
   */
  inFlightLimit?(address: string): Promise<number | undefined>
}

/**
 * Signed content expires by itself (`expiresAt`): after that the chain cannot include it, and its nonce is free again. So the service
 * raises no fee to speed it up, sends no no-op to enforce `valid_until`, fills no nonce gap, and signs expired content again.
 */
export interface Expiry<R extends ChainRequest = ChainRequest, D extends Draft = Draft> {
  /** Returns true when, as of this head, no later block can include the draft; false also when that is not known. */
  hasExpired(draft: D, head: Head): Promise<boolean>
  /**
   * Returns the time of the chain when the draft was prepared, on chains with a clock of their own: a clock of ours that is wrong must not
   * decide how far back a proof of absence has to reach.
   */
  preparedAt?(draft: D): Date | undefined
  /** Returns true when the service can sign the content again without an external signer. The request has passed `check`. */
  reSignable(request: R): boolean
}

/** The fee of signed content can be raised while it waits. */
export interface FeeBump<D extends Draft = Draft, P extends Policies = Policies> {
  /** Prepares the content of the last attempt with a fee that replaces all attempts; refuses when the fee would exceed the cap. */
  speedUp(attempts: readonly Attempt<D>[], level: Speed, account: Account<P>): Promise<Answer<Prepared<D>>>
}

/** A relayer can send from several source accounts (Stellar channel accounts) at the same time. */
export interface Channels<R extends ChainRequest = ChainRequest, P extends Policies = Policies> {
  /** Returns the request that creates these addresses as channel accounts. */
  open(addresses: readonly string[], account: Account<P>): R
}

/** The money of an account, in the smallest unit. */
export interface AccountFunds {
  /** The amount that the account can spend, as `balance` reads it. */
  readonly spendable: bigint
  /** The amount that the chain holds back of the next payments to the account, before it can spend any of them. */
  readonly missingReserve: bigint
  /** False while the chain has no such account; the first payment then creates it. */
  readonly exists: boolean
}

/** A payment of native currency, in the smallest unit. */
export interface Payment {
  readonly to: string
  readonly amount: bigint
  /** The funds of the receiver before the payment. */
  readonly funds: AccountFunds
}

/** Native currency can be paid to another account. */
export interface Funding<R extends ChainRequest = ChainRequest, P extends Policies = Policies> {
  /** Reads the funds of an account; unknown from an endpoint that has not reached `asOf`. */
  read(address: string, freshness?: Freshness): Promise<Answer<AccountFunds>>
  /** Returns the request of this account that pays. */
  pay(payment: Payment, account: Account<P>): R
}

/** A request can bring content that an external signer has signed with a nonce of their own. */
export interface ExternalSigning<R extends ChainRequest = ChainRequest> {
  /** Returns the nonce that the request brings; undefined when the service assigns it. The request has passed `check`. */
  nonceOf(request: R): ExternalNonce | undefined
}

/** Structured data can be signed (EIP-712). */
export interface TypedDataSigning {
  /** Refuses data that does not match its types. */
  sign(data: TypedData, signer: Signer): Promise<Exclude<Answer<Signature>, { kind: 'unknown' }>>
}

/** An account can authorize smart contract calls in a transaction of somebody else (Stellar, CAP-46-11). */
export interface AuthorizationEntries {
  /**
   * Reviews the preimage of an authorization entry, XDR in base64, for the account of this address. Unknown when no endpoint tells the newest
   * ledger.
   */
  review(preimage: string, address: string): Promise<Answer<ReviewedAuthorization>>
}

/** Inclusion is final by the depth of its block, which is checked by hash. Without this capability the receipt itself is final. */
export interface BlockFinality {
  /** Reads the hash of the block at this height in the current chain; unknown when the node is behind. */
  blockHash(number: bigint, freshness?: Freshness): Promise<Answer<string>>
}

/** Endpoints announce new blocks by themselves. */
export interface HeadSubscription {
  /** Calls `listener` at each announced block. An announcement may come late, twice or never, so the listener reads the chain itself. */
  subscribe(listener: () => void): HeadFeed
}

/** The receipt of a reverted transaction does not contain the reason; a node can find it by running the content again. */
export interface RevertReasons<D extends Draft = Draft> {
  /** Returns the decoded reason; undefined when no node can tell it any more. */
  read(draft: D, from: string, block: bigint): Promise<string | undefined>
}

/** One attempt can be included under several hashes (Stellar, CAP-15: the fee bump's and its inner transaction's). */
export interface InclusionHashes<D extends Draft = Draft> {
  /** Returns every hash under which the chain can include the attempt, its own first. */
  of(attempt: Attempt<D>): readonly string[]
}

/** The chain has a first block whose hash changes when a test network starts anew under the same name. */
export interface Genesis {
  /** Reads the hash of the first block from one endpoint. */
  read(): Promise<Answer<string>>
  /** Reads the hash of the first block from all endpoints; unknown when they give different ones, or none has the block any more. */
  readEverywhere(): Promise<Answer<string>>
}

/** Reads stored content without a node. */
export interface ContentReader<R extends ChainRequest = ChainRequest, D extends Draft = Draft> {
  /** Returns the fee that the included attempt took from this account, in the smallest unit; undefined when the chain has not told it. */
  paidFee(attempt: Attempt<D>, payer: string): bigint | undefined
  /** Reads from the bytes of a request what it does to the account of this address. The request has passed `check`. */
  effects(request: R, address: string): Effects
}

/** Capabilities of some chains. A chain without a capability leaves it out. */
export interface ChainCapabilities<R extends ChainRequest, D extends Draft, P extends Policies> {
  readonly sequencing?: Sequencing
  readonly expiry?: Expiry<R, D>
  readonly feeBump?: FeeBump<D, P>
  readonly channels?: Channels<R, P>
  readonly externalSigning?: ExternalSigning<R>
  readonly contractCalls?: ContractCalls
  /** Encodes an instruction of a program by its name in the program's IDL. A refusal begins with the field, from `call` on. */
  readonly encodeInstruction?: (call: IdlCall, programId: string) => CallResult<EncodedInstruction>
  /**
   * Encodes the arguments that a call of a smart contract has by name, by what the network tells about the contract. A request without any
   * stays as it is. A refusal begins with the field.
   */
  encodeNamedArgs?(request: R): Promise<Answer<R>>
  readonly typedData?: TypedDataSigning
  readonly authorizationEntries?: AuthorizationEntries
  readonly blockFinality?: BlockFinality
  readonly headSubscription?: HeadSubscription
  readonly revertReasons?: RevertReasons<D>
  readonly inclusionHashes?: InclusionHashes<D>
  readonly genesis?: Genesis
  readonly privateBroadcast?: PrivateBroadcast
}

/**
 * The operations of every chain, for one concrete network. A chain keeps no state that matters: a second instance in another process gives
 * the same answers. Only `broadcast` changes the world. A chain receives only records of relayers of its own type, and drafts that it
 * prepared itself.
 */
export interface ChainOf<
  R extends ChainRequest,
  D extends Draft,
  P extends Policies,
  U extends UnsignedTransaction,
> extends ChainCapabilities<R, D, P>,
    ContentReader<R, D> {
  readonly unit: Unit
  readonly funding: Funding<R, P>
  /** The RPC methods that callers may use when a relayer's policy does not list any: those that only read. */
  readonly readMethods: readonly string[]
  /** The time after which accepted bytes are broadcast again, in ms, on chains whose nodes keep no pool. Default: half a minute. */
  readonly rebroadcastAfterMs?: number
  /** Refuses when an endpoint serves another network than the configured one; unknown when no endpoint answers. */
  verify(): Promise<Answer<void>>
  /** Returns the address in the chain's canonical spelling: EIP-55 on EVM. The text is a valid address in any spelling. */
  canonicalAddress(text: string): string
  /** Finds problems that need no network: shapes, intrinsic gas, mixed pricing, the cap. */
  check(request: R, account: Account<P>): Refusal | undefined
  /** Returns the time after which the caller no longer wants the transaction; undefined for never. The request has passed `check`. */
  endsAt(request: R): Date | undefined
  /**
   * Prepares prices and limits for a new transaction, and simulates it where that is needed. `knownGas` is an earlier estimate that
   * replaces the simulation.
   */
  prepare(request: R, account: Account<P>, knownGas?: bigint): Promise<Answer<Prepared<D>> | SetupRequired<R>>
  /**
   * Prepares a new draft that a node accepts in place of all `attempts`, which have the present nonce of the transaction. The draft has the
   * same nonce, or the one that the request brings.
   */
  replace(
    request: R,
    attempts: readonly Attempt<D>[],
    account: Account<P>,
  ): Promise<Answer<Prepared<D>> | SetupRequired<R> | AfterExpiry>
  /** Returns the request that does nothing and costs the least. */
  noop(account: Account<P>): R
  sign(draft: D, signingContext: SigningContext): Promise<SignedDraft>
  /**
   * Applies the rules for sending, except those for receivers and funds, to a transaction that the caller will send. `sign` of the result
   * signs it unchanged.
   */
  review(unsigned: U, account: Account<P>): Promise<Answer<Reviewed>>
  /** Signs a message for people, over its UTF-8 bytes: EIP-191 version 0x45 on EVM, SEP-53 on Stellar, the bytes as they are on Solana. */
  signMessage(message: string, signer: Signer): Promise<MessageSignature>
  /**
   * Sends the transactions in this order and returns the results in the same order. `mayBeInPool`, in the same order, tells that nodes may
   * hold another version with the same nonce; a price that they demand is then the price of a replacement and not of the market.
   */
  broadcast(raws: readonly Uint8Array[], mayBeInPool?: readonly boolean[]): Promise<BroadcastResult[]>
  head(): Promise<Answer<Head>>
  /** Reads receipts. A node that is behind never causes the answer `none`. */
  receipts(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[]>
  /**
   * Reads receipts from every endpoint, in the order of the configuration, each in the order of the hashes. An endpoint that rests or does
   * not answer gives `unknown`.
   */
  receiptsEverywhere(hashes: readonly string[], freshness?: Freshness): Promise<readonly ReceiptAnswer[][]>
  /**
   * Proves whether the chain includes any of the attempts of one transaction, for decisions that cannot be taken back. `included` names the
   * attempt by its number. `since` in `freshness` is the signing time of the oldest attempt whose absence is not proved yet.
   */
  proveInclusion(attempts: readonly Attempt<D>[], freshness?: Freshness): Promise<InclusionProof>
  /** Forwards calls of API callers unchanged. Replies keep the order of the calls; they are written out and never read. */
  forward(calls: readonly RpcCall[]): Promise<RpcReply[]>
  /** The state of each endpoint, as far as it was asked. */
  endpoints(): EndpointReport[]
  /** Reads the amount that the account can spend, without the reserve that the chain itself holds back. */
  balance(address: string): Promise<Answer<bigint>>
  /** Compares the draft's price with the network's price for this level. */
  comparePrice(draft: D, level: Speed): Promise<Answer<PriceComparison>>
  /** Returns the highest amount that the draft can take from the account, its fee included, in the smallest unit. */
  cost(draft: D): bigint
  /** Returns the amount that the request moves out of the account, before any fee is known. */
  amountOut(request: R): bigint
  /** Returns the meaning of a speed on this chain. */
  speed(level: Speed): SpeedMeaning
}

/** A chain of any kind. */
export type Chain = ChainOf<ChainRequest, Draft, Policies, UnsignedTransaction>
