import type { SeenHead } from '../networks/head-age.ts'
import type { AssetNames } from '../networks/tokens.ts'
import type { Signer } from '../signers/signer.ts'
import type {
  Answer,
  BroadcastResult,
  EmittedIn,
  EndpointReport,
  Freshness,
  Head,
  InclusionProof,
  PriceComparison,
  Receipt,
  ReceiptAnswer,
  Refusal,
} from './answer.ts'
import type {
  AfterExpiry,
  Attempt,
  Draft,
  MessageSignature,
  Prepared,
  SetupRequired,
  SignedDraft,
} from './attempt.ts'
import type { ChainCapabilities, ContentReader, ExternalNonce, Funding } from './capabilities.ts'
import type { Effects } from './effects.ts'
import type { Account, ChainRequest, Policies, UnsignedTransaction } from './request.ts'
import type { VerifyOptions } from './rpc/identity.ts'
import type { RpcCall, RpcReply } from './rpc/rpc.ts'
import type { Speed } from './speed.ts'

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
  /** The next nonce of its source account after it; absent on chains without nonces. */
  readonly nextNonce?: ExternalNonce
  sign(signer: Signer): Promise<SignedDraft>
}

/** The accounts and the nonce with which the service signs a draft. */
export interface SigningContext {
  /**
   * The account whose nonce is used. It has no signer when an external signer has signed the content for it.
   */
  readonly sourceAccount: { readonly address: string; readonly signer: Signer | undefined }
  /** The nonce of the transaction; undefined on chains without nonces. */
  readonly nonce: bigint | undefined
  /** The relayer's own account: it pays, and the content acts in its name. */
  readonly account: SourceAccount
}

/** The meaning of a speed on a chain. */
export interface SpeedMeaning {
  readonly priceMultiplier: number
  readonly raiseAfterSeconds: number
}

/** The name of the smallest unit of a chain's native currency. */
export type Unit = 'wei' | 'stroops' | 'lamports'

/**
 * The operations of every chain, for one concrete network. A chain keeps no state that matters: a second
 * instance in another process gives the same answers. Only `broadcast` changes the world. A chain receives
 * only records of relayers of its own type, and drafts that it prepared itself.
 */
export interface ChainOf<
  R extends ChainRequest,
  D extends Draft,
  P extends Policies,
  U extends UnsignedTransaction,
> extends ChainCapabilities<R, D, P>,
    ContentReader<R, D> {
  readonly unit: Unit
  /** Names assets for people. */
  readonly assetNames: AssetNames
  /** Reads the decimals of a token, as the token itself says. */
  readTokenDecimals?(token: string): Promise<Answer<number>>
  /** Returns the decimals of a token that were read before. */
  readonly tokenDecimals?: (token: string) => number | undefined
  readonly funding: Funding<R, P>
  /** The RPC methods that callers may use when a relayer's policy does not list any: those that only read. */
  readonly readMethods: readonly string[]
  /**
   * The time after which accepted bytes are broadcast again, in ms, on chains whose nodes keep no pool.
   * Default: half a minute.
   */
  readonly rebroadcastAfterMs?: number
  /** Refuses endpoints that serve another network than the configured one; unknown if too few answer. */
  verify(options?: VerifyOptions): Promise<Answer<void>>
  /**
   * Returns the address in the chain's canonical spelling: EIP-55 on EVM. The text is a valid address in any
   * spelling.
   */
  canonicalAddress(text: string): string
  /** Finds problems that need no network: shapes, intrinsic gas, mixed pricing, the cap. */
  check(request: R, account: Account<P>): Refusal | undefined
  /**
   * Returns the time after which the caller no longer wants the transaction; undefined for never. The request
   * has passed `check`.
   */
  endsAt(request: R): Date | undefined
  /**
   * Prepares prices and limits for a new transaction, and simulates it where that is needed. `knownGas` is an
   * earlier estimate that replaces the simulation.
   */
  prepare(request: R, account: Account<P>, knownGas?: bigint): Promise<Answer<Prepared<D>> | SetupRequired<R>>
  /**
   * Prepares a new draft that a node accepts in place of all `attempts`, which have the current nonce of the
   * transaction. The draft has the same nonce, or the one in the request.
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
   * Applies the rules for sending, except those for receivers and funds, to a transaction that the caller
   * will send. `sign` of the result signs it unchanged.
   */
  review(unsigned: U, account: Account<P>): Promise<Answer<Reviewed>>
  /**
   * Signs a message for people, over its UTF-8 bytes: EIP-191 version 0x45 on EVM, SEP-53 on Stellar, the
   * bytes as they are on Solana.
   */
  signMessage(message: string, signer: Signer): Promise<MessageSignature>
  /**
   * Sends the transactions in this order and returns the results in the same order. `mayBeInPool`, in the
   * same order, says that nodes may have another version with the same nonce; the price that they require is
   * then that of a replacement, not the market's.
   */
  broadcast(raws: readonly Uint8Array[], mayBeInPool?: readonly boolean[]): Promise<BroadcastResult[]>
  head(): Promise<Answer<Head>>
  /**
   * Returns the newest head that the endpoints reported, and since when; undefined before the first reply. It
   * queries no node.
   */
  seenHead(): SeenHead | undefined
  /** Reads receipts. A node that is behind never causes the answer `none`. */
  receipts(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[]>
  /**
   * Reads what the transaction with this hash emitted, from one endpoint. Unknown when the endpoint does not
   * tell it, or has no such transaction in a block; refused never.
   */
  emitted(hash: string): Promise<Answer<EmittedIn>>
  /**
   * Reads receipts from every endpoint, in the order of the configuration, each in the order of the hashes.
   * An endpoint that is paused or does not answer yields `unknown`.
   */
  receiptsEverywhere(hashes: readonly string[], freshness?: Freshness): Promise<readonly ReceiptAnswer[][]>
  /**
   * Proves whether the chain includes any of the attempts of one transaction, for irreversible decisions.
   * `included` names the attempt by its number. `since` in `freshness` is the signing time of the oldest
   * attempt whose absence is not proved yet.
   */
  proveInclusion(attempts: readonly Attempt<D>[], freshness?: Freshness): Promise<InclusionProof>
  /**
   * The chain through the operator's endpoints, if an API caller chose the endpoints of this one. Those read
   * and broadcast; ending or repeating a transaction, or releasing a budget, needs the operator's. If absent,
   * the endpoints of this chain decide.
   */
  readonly trustedChain?:
    | Pick<ChainOf<R, D, P, U>, 'proveInclusion' | 'receiptsEverywhere' | 'history' | 'endpoints'>
    | undefined
  /**
   * Forwards calls of API callers unchanged. Replies keep the order of the calls; they are written out and
   * never read.
   */
  forward(calls: readonly RpcCall[]): Promise<RpcReply[]>
  /** The state of each endpoint, as far as it was used. */
  endpoints(): EndpointReport[]
  /** Reads the amount that the account can spend, without the reserve that the chain itself holds back. */
  balance(address: string): Promise<Answer<bigint>>
  /**
   * Reads like `balance`, for many accounts in as few calls as the chain allows, in the order of the
   * addresses.
   */
  balances(addresses: readonly string[]): Promise<Answer<bigint>[]>
  /**
   * Returns the number of balances that one call of `balances` reads; 1 where the nodes tell them one by one.
   */
  balancesPerCall(): number
  /** Like `balance`, but up to about one block stale, so frequent reads do not wait for a node. */
  recentBalance(address: string): Promise<Answer<bigint>>
  /**
   * Compares the draft's price with the network's price for this level, and with what the policies of the
   * account allow.
   */
  comparePrice(draft: D, level: Speed, account: Account<P>): Promise<Answer<PriceComparison>>
  /**
   * Returns the highest amount that the draft can take from the account, its fee included, in the smallest
   * unit.
   */
  cost(draft: D): bigint
  /** Returns the amount that the request moves out of the account, before any fee is known. */
  amountOut(request: R): bigint
  /** Returns the meaning of a speed on this chain. */
  speed(level: Speed): SpeedMeaning
}

/** A chain of any kind. */
export type Chain = ChainOf<ChainRequest, Draft, Policies, UnsignedTransaction>

/**
 * The number of the smallest unit in one whole coin: ETH has 18 decimals, XLM 7, SOL 9. EVM networks with
 * another coin also count in wei.
 */
const PER_COIN: Readonly<Record<Unit, number>> = { wei: 1e18, stroops: 1e7, lamports: 1e9 }

/**
 * Converts an amount to whole coins. A double keeps about 15 digits, so the result is for charts and alerts,
 * never for accounts (I10).
 */
export function toWholeUnits(amount: bigint, unit: Unit): number {
  return Number(amount) / PER_COIN[unit]
}

/**
 * Returns the attempt that a receipt belongs to: the one whose own bytes are in the chain, otherwise the
 * newest of `candidates`, whose content a third party sent in different bytes.
 */
export function includedAttempt<A extends Pick<Attempt, 'signed'>>(
  attempts: readonly A[],
  { receipt, candidates }: { readonly receipt: Receipt; readonly candidates: readonly A[] },
): A | undefined {
  const includedHash = receipt.result?.appliedHash ?? receipt.hash
  return attempts.find(({ signed }) => signed.hash === includedHash) ?? candidates.at(-1)
}
