import type { Signer } from '../signers/signer.ts'
import type { Answer, BroadcastResult, EndpointReport, Freshness, Head, HeadFeed, Receipt } from './answer.ts'
import type {
  Attempt,
  ChargedFee,
  Draft,
  InclusionDetails,
  MessageSignature,
  Prepared,
  Signature,
} from './attempt.ts'
import type { CallResult, ContractCalls } from './call.ts'
import type { Effects } from './effects.ts'
import type { TypedData } from './evm/content.ts'
import type { Account, ChainRequest, Policies } from './request.ts'
import type { RpcReply } from './rpc/rpc.ts'
import type { EncodedInstruction, IdlCall } from './solana/content.ts'
import type { Speed } from './speed.ts'
import type { FeePayment, OraclePrice } from './sponsoring.ts'
import type { StellarOperation } from './stellar/model/operation.ts'

/** An authorization of smart contract calls that the chain's rules allow to sign. */
export interface ReviewedAuthorization {
  /** The effects of all calls that it authorizes. */
  readonly effects: Effects
  /** The SHA-256, in hex, that is signed. */
  readonly sha256: string
  sign(signer: Signer): Promise<MessageSignature>
}

/** The nonce of a request whose content an external signer has signed. */
export interface ExternalNonce {
  readonly address: string
  readonly nonce: bigint
}

/**
 * Transactions of one source account follow each other by number: a nonce (EVM) or a sequence number
 * (Stellar).
 */
export interface Sequencing<R extends ChainRequest = ChainRequest> {
  /**
   * The highest number of transactions of one source account that nodes keep at the same time. Default: the
   * configured number.
   */
  readonly maxInFlight?: number
  /**
   * Reads the next free nonce of each address in the newest block. Returns unknown when the node is behind,
   * and refuses with `account_not_found` when the address does not exist on the chain yet.
   */
  nonces(addresses: readonly string[], freshness?: Freshness): Promise<Answer<bigint>[]>
  /**
   * Reads the nonce after the last transaction of this address that a node would include next; undefined if
   * no node reported it.
   */
  pendingNonce?(address: string): Promise<bigint | undefined>
  /**
   * Reads the highest number of transactions that nodes keep of this address because of its state on chain
   * (EIP-7702); undefined for no such limit.
   */
  inFlightLimit?(address: string): Promise<number | undefined>
  /**
   * Returns the next nonce of this account after a request that skips some (Stellar, BumpSequence); undefined
   * for all others.
   */
  nextNonce?(request: R, address: string): bigint | undefined
}

/** The point up to which the history of an account was read. */
export interface HistoryMark {
  /** Every transaction of the account in a block of this slot, or of an earlier one, was read. */
  readonly slot: bigint
  /** The newest transaction among them; absent if there was none. */
  readonly hash?: string
}

/** A transaction in a block that the account alone has signed. */
export interface OwnTransaction {
  readonly hash: string
  readonly slot: bigint
  /** The SHA-256 of its bytes, in hex. */
  readonly sha256: string
}

/** The knowledge of the service about transactions of the chain. */
export interface KnownTransactions {
  /** Returns the hashes that no attempt of the service has. */
  withoutRecord(hashes: readonly string[]): Promise<readonly string[]>
  /** Returns those that the service has not signed for a caller either. */
  unexplained(own: readonly OwnTransaction[]): Promise<readonly OwnTransaction[]>
}

/** The part of a history after a mark. */
export interface HistoryReading {
  /** Some transactions that the records do not explain; empty if they explain all. */
  readonly unexplained: readonly OwnTransaction[]
  /** The finalized slot that the node had reached. */
  readonly asOf: bigint
  /** The mark to read from next time. It stays where it was while something is unexplained. */
  readonly mark: HistoryMark
}

/**
 * The transactions of an account have no numbers, and only the list of them shows that the service has signed
 * some that its database does not know: it was restored from a backup, or a standby without its last commits
 * took over.
 */
export interface AccountHistory {
  /**
   * Reads what the account alone has signed after the mark, from endpoints that have all of it. Without a
   * mark nothing counts as unexplained. Unknown while no endpoint returns all.
   */
  readAfter(
    address: string,
    mark: HistoryMark | undefined,
    known: KnownTransactions,
  ): Promise<Answer<HistoryReading>>
}

/**
 * Signed content expires (`expiresAt`): after that the chain cannot include it, and its nonce is free again.
 * So the service raises no fee to speed it up, sends no no-op to enforce `valid_until`, fills no nonce gap,
 * and signs expired content again.
 */
export interface Expiry<R extends ChainRequest = ChainRequest, D extends Draft = Draft> {
  /**
   * The time in ms for which content must still be valid when a node gets it: nodes refuse content that
   * expires sooner, so such a request could only expire. Absent if nodes accept content up to its expiry.
   */
  readonly minLifetimeMs?: number
  /**
   * Returns true if, as of this head, no later block can include the draft; false also when that is not
   * known.
   */
  hasExpired(draft: D, head: Head): Promise<boolean>
  /**
   * Returns the time of the chain when the draft was prepared, on chains with their own clock: an error of
   * our clock must not decide how far back a proof of absence must reach.
   */
  preparedAt?(draft: D): Date
  /**
   * Returns true if a block contains the draft without having executed it, and a later one may still execute
   * it (Solana, durable nonces). Such a receipt decides nothing.
   */
  mayStillExecute?(draft: D, receipt: Receipt): boolean
  /**
   * Returns true if the service can sign the content again without an external signer. The request has passed
   * `check`.
   */
  reSignable(request: R): boolean
}

/** The circumstances of a raise. */
interface Raise<P extends Policies = Policies> {
  readonly level: Speed
  readonly account: Account<P>
  /**
   * The newest block that is the reason of the raise; the next raise needs a later one. Absent if the reason
   * is no block.
   */
  readonly seenBlock?: bigint | undefined
}

/** The service automatically raises the fee of signed content while it waits. */
interface FeeBump<D extends Draft = Draft, P extends Policies = Policies> {
  /**
   * Prepares the content of the last attempt with a fee that replaces all attempts; refuses a fee above the
   * cap, or above the limit of raises that the policies set. The detail of a refusal continues the sentence
   * "the fee is not raised: …".
   */
  speedUp(attempts: readonly Attempt<D>[], raise: Raise<P>): Promise<Answer<Prepared<D>>>
}

/** Other content shows whether nodes refuse what is in a transaction, or everything with its nonce. */
interface Comparison<D extends Draft = Draft, P extends Policies = Policies> {
  /**
   * Prepares a no-op to broadcast in place of an attempt that nodes refuse. It offers the price of the market
   * and no more than the attempt does, so that a node which has the attempt after all keeps it, and calls the
   * no-op underpriced.
   */
  prepareNoop(refused: Attempt<D>, account: Account<P>): Promise<Answer<Prepared<D>>>
}

/** A relayer can send from several source accounts (Stellar channel accounts) at the same time. */
interface Channels<R extends ChainRequest = ChainRequest, P extends Policies = Policies> {
  /** Returns the request that creates these addresses as channel accounts. */
  open(addresses: readonly string[], account: Account<P>): Promise<R>
}

/** The money of an account, in the smallest unit. */
export interface AccountFunds {
  /** The amount that the account can spend, as `balance` reads it. */
  readonly spendable: bigint
  /**
   * The amount that the chain holds back of the next payments to the account, before it can spend any of
   * them.
   */
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

/** A request can contain externally signed content with the signer's nonce. */
interface ExternalSigning<R extends ChainRequest = ChainRequest> {
  /**
   * Returns the nonce in the request; undefined if the service assigns it. The request has passed `check`.
   */
  nonceOf(request: R): ExternalNonce | undefined
}

/** Structured data can be signed (EIP-712). */
interface TypedDataSigning {
  /**
   * Returns the chain id to which a signature of the data is bound; undefined if it is valid on every chain,
   * or unreadable.
   */
  chainIdOf(data: TypedData): Exclude<Answer<bigint | undefined>, { kind: 'unknown' }>
  /** Refuses data that does not match its types. */
  sign(data: TypedData, signer: Signer): Promise<Exclude<Answer<Signature>, { kind: 'unknown' }>>
}

/** An account can authorize smart contract calls in a third party's transaction (Stellar, CAP-46-11). */
interface AuthorizationEntries {
  /**
   * Reviews the preimage of an authorization entry, XDR in base64, for the account of this address. Unknown
   * if no endpoint returns the newest ledger.
   */
  review(preimage: string, address: string): Promise<Answer<ReviewedAuthorization>>
}

/**
 * Inclusion is final by the depth of its block, which is checked by hash. Without this capability the receipt
 * itself is final.
 */
interface BlockFinality {
  /** Reads the hash of the block at this height in the current chain; unknown when the node is behind. */
  blockHash(number: bigint, freshness?: Freshness): Promise<Answer<string>>
}

/** Endpoints push new blocks. */
interface HeadSubscription {
  /**
   * Calls `listener` at each announced block. An announcement may come late, twice or never, so the listener
   * reads the chain itself.
   */
  subscribe(listener: () => void): HeadFeed
}

/**
 * The receipt of a reverted transaction does not contain the reason; a node can find it by running the
 * content again.
 */
interface RevertReasons<D extends Draft = Draft> {
  /** Returns the decoded reason; undefined if no node can return it any more. */
  read(draft: D, from: string, block: bigint): Promise<string | undefined>
}

/**
 * One attempt can be included under several hashes (Stellar, CAP-15: the fee bump's and its inner
 * transaction's).
 */
interface InclusionHashes<D extends Draft = Draft> {
  /** Returns every hash under which the chain can include the attempt, its own first. */
  of(attempt: Attempt<D>): readonly string[]
}

/** The chain has a first block whose hash changes when a test network starts again under the same name. */
export interface Genesis {
  /** Reads the hash of the first block from one endpoint. */
  read(): Promise<Answer<string>>
  /**
   * Reads the hash of the first block from all endpoints; unknown if they differ, or none has the block any
   * more.
   */
  readEverywhere(): Promise<Answer<string>>
}

/** The content that a user wants to have executed. */
export type SponsoredContent =
  | { readonly type: 'solana'; readonly transaction: string }
  | {
      readonly type: 'stellar'
      readonly transactionXdr?: string
      readonly operations?: readonly StellarOperation[]
      readonly sourceAccount?: string
    }

/** A transfer of a token between two owners. */
export interface TokenTransfer {
  readonly token: string
  readonly source: string
  readonly destination: string
  /** In base units of the token. */
  readonly amount: bigint
}

/** The amounts of a payment, in base units of the token. */
export interface Charge {
  readonly amount: bigint
  /** The most that the user authorizes, where that may be more than the amount. */
  readonly most: bigint
}

/** Content whose fee is known. */
export interface SponsoringPlan {
  /** The account that pays. */
  readonly payer: string
  /** In the smallest unit of the native currency. */
  readonly fee: bigint
  /** The user authorizes more than the amount. */
  readonly hasMost: boolean
  /** Adds the payment, and refuses what the network would not execute. Without a charge nothing is paid. */
  build(charge: Charge | undefined): Promise<Answer<SponsoredBuild>>
}

/** A transaction for the user to sign. */
export interface SponsoredBuild {
  /** In the encoding of the chain. */
  readonly transaction: string
  /** Identifies it among those that are sent. */
  readonly hash: string
  /** The account that receives the payment. */
  readonly receiver: string
  readonly validUntil?: Date
  /** Solana: the last block height that can include it. */
  readonly lastBlockHeight?: bigint
  /** Stellar: the authorization that the user signs instead of the transaction; XDR in base64. */
  readonly userAuthEntry?: string
}

/** An oracle's price: tokens for one coin as a fraction, and its time. */
export interface ToldPrice {
  readonly numerator: bigint
  readonly denominator: bigint
  /** The older one of both prices. */
  readonly at: Date
}

/** Others can pay the relayer for its fees in tokens, inside the transaction whose fee it pays. */
export interface Sponsoring<R extends ChainRequest = ChainRequest, P extends Policies = Policies> {
  /** The decimals of the native currency. */
  readonly decimals: number
  /** Returns what is wrong with the name of a token, to complete a sentence; undefined if nothing is. */
  tokenProblem(token: string): string | undefined
  /** Finds the fee of the content with a payment in this token. The answer names fields of the request. */
  plan(content: SponsoredContent, token: string, account: Account<P>): Promise<Answer<SponsoringPlan>>
  /** Reads the decimals of a token. */
  tokenDecimals(token: string): Promise<Answer<number>>
  /** Reads the amount that an account has of a token, 0 if it has none. */
  tokenBalance(token: string, address: string): Promise<Answer<bigint>>
  oraclePrice(source: OraclePrice): Promise<Answer<ToldPrice>>
  /**
   * Returns how long ago a block of this number was made, in ms, by the newest head that the endpoints
   * reported. Absent where no source of prices names blocks.
   */
  blockAge?(block: bigint): Answer<number>
  /**
   * Returns the hash of content that others signed, as `SponsoredBuild` has it; undefined for content of the
   * relayer's own, and for content that cannot be read.
   */
  hashOf(request: R): string | undefined
  /**
   * Solana: returns the content of a token transfer between the conventional accounts of two owners. Absent
   * where no client needs it.
   */
  transferOf?(transfer: TokenTransfer): Promise<Answer<SponsoredContent>>
  /** Returns the request of content that a user has signed. A refusal names its field. */
  withPayment(request: R, payment: FeePayment): Answer<R>
}

/** Reads stored content without a node. */
export interface ContentReader<R extends ChainRequest = ChainRequest, D extends Draft = Draft> {
  /**
   * Returns the fee that the included attempt took from this account, in the smallest unit; undefined if the
   * chain has not returned it.
   */
  paidFee(attempt: Attempt<D>, payer: string): ChargedFee | undefined
  /**
   * Reads from the bytes of a request what it does to the account of this address. The request has passed
   * `check`.
   */
  effects(request: R, address: string): Effects
  /** Returns what the caller named, so that the service does not decide it. Absent where callers cannot. */
  named?(request: R): NamedByCaller
  /**
   * Returns the draft as if it had been priced with the newest attempt: one that a node refused was a
   * reaction to its block as well. Absent where drafts have no block.
   */
  pricedLast?(draft: D, attempts: readonly Attempt<D>[]): D
  /** Returns the receiver or the called contract; undefined if this content has none. */
  receiver?(request: R): string | undefined
}

/** The parts of the price that the caller of a transaction named. */
export interface NamedByCaller {
  readonly speed?: Speed | undefined
  /** The price of a unit of gas. */
  readonly price: boolean
  readonly gasLimit: boolean
}

/** Capabilities of some chains. A chain without a capability leaves it out. */
export interface ChainCapabilities<R extends ChainRequest, D extends Draft, P extends Policies> {
  readonly sequencing?: Sequencing<R>
  readonly expiry?: Expiry<R, D>
  readonly history?: AccountHistory
  readonly feeBump?: FeeBump<D, P>
  readonly comparison?: Comparison<D, P>
  readonly channels?: Channels<R, P>
  readonly externalSigning?: ExternalSigning<R>
  /**
   * Returns what is wrong with an address that a caller has written, such as a checksum that does not fit, to
   * complete a sentence about its field; undefined if nothing is. The text has the form of an address. Absent
   * where `check` finds that.
   */
  addressProblem?(text: string): string | undefined
  readonly contractCalls?: ContractCalls
  /**
   * Encodes an instruction of a program by its name in the program's IDL. A refusal begins with the field,
   * from `call` on.
   */
  readonly encodeInstruction?: (call: IdlCall, programId: string) => CallResult<EncodedInstruction>
  /**
   * Encodes the named arguments of a contract call, using the contract's specification from the network. A
   * request without any is unchanged. A refusal begins with the field.
   */
  encodeNamedArgs?(request: R): Promise<Answer<R>>
  readonly typedData?: TypedDataSigning
  readonly authorizationEntries?: AuthorizationEntries
  readonly blockFinality?: BlockFinality
  /**
   * Reads the times of blocks by their hashes, where receipts do not tell them. Those that no node tells are
   * missing; blocks that were read lately cost no call.
   */
  blockTimes?(hashes: readonly string[]): Promise<ReadonlyMap<string, Date>>
  /**
   * Reads what the receipt of an included draft, and of its payment, does not say. Nothing that no node
   * answers is guessed.
   */
  inclusionDetails?(draft: D, receipt: Receipt, payment?: FeePayment): Promise<InclusionDetails>
  readonly headSubscription?: HeadSubscription
  readonly revertReasons?: RevertReasons<D>
  readonly inclusionHashes?: InclusionHashes<D>
  readonly genesis?: Genesis
  readonly privateBroadcast?: PrivateBroadcast
  readonly sponsoring?: Sponsoring<R, P>
}

/** Endpoints that take signed bytes and keep them from the public pool. */
export interface PrivateBroadcast {
  /**
   * Sends the transactions in this order to every private endpoint, and nothing else. Returns the results in
   * the same order; none of them ends an attempt permanently, because these endpoints are not nodes and may
   * refuse for their own reasons.
   */
  broadcast(raws: readonly Uint8Array[]): Promise<BroadcastResult[]>
  /**
   * Passes transactions of API callers on, as `eth_sendRawTransaction`. Returns the replies in the same
   * order.
   */
  forward(raws: readonly string[]): Promise<RpcReply[]>
  /** The state of each private endpoint, as far as it was used. */
  endpoints(): EndpointReport[]
}
