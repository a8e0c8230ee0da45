import type { Quantity } from '../lib/bigint.ts'
import type { Transfer } from './effects.ts'
import type { EvmDraft } from './evm/content.ts'
import type { ChainRequest } from './request.ts'
import type { SolanaDraft } from './solana/content.ts'
import type { StellarDraft } from './stellar/content.ts'

/** Prepared, unsigned content of any chain. */
export type Draft = EvmDraft | StellarDraft | SolanaDraft

/** Final bytes and their hash. They are stored before they leave the process (I3). */
export interface SignedDraft {
  readonly raw: Uint8Array
  readonly hash: string
  /**
   * Stellar, in a fee bump: the hash of the inner transaction, in hex. Anyone can wrap the inner transaction
   * in another fee bump (CAP-15), and the ledger then has it under an outer hash that the service does not
   * know. The inner hash finds it in any case.
   */
  readonly innerHash?: string
  readonly signature: Signature
}

/**
 * `r` and `s` have 64 hex digits, `sig` joins both and adds `v` in two digits where the curve has one; none
 * starts with `0x`. ECDSA: `v` is 27 or 28 for messages and legacy transactions, 0 or 1 for EIP-1559.
 * Ed25519: `v` is 0.
 */
export interface Signature {
  readonly r: string
  readonly s: string
  readonly v: number
  readonly sig: string
}

/** A signed message. Ed25519 chains add the signature and the public key in the encoding of their tools. */
export interface MessageSignature extends Signature {
  readonly signature?: string
  readonly publicKey?: string
}

/** Every kind of an attempt; the database accepts no other. */
export const ATTEMPT_KINDS = [
  'send',
  'replace',
  'cancel',
  'expire',
  'abandon',
  'speed_up',
  'gap_filler',
  're_sign',
  'setup',
] as const

/**
 * The reason of an attempt. `re_sign`: an earlier attempt expired · `setup`: other transactions wait for the
 * effect of this one, which the service sends itself · the contract describes the others.
 */
export type AttemptKind = (typeof ATTEMPT_KINDS)[number]

/** Every outcome of an attempt; the database accepts no other. */
export const ATTEMPT_OUTCOMES = [
  'signed',
  'broadcast',
  'refused',
  'mined',
  'reverted',
  'superseded',
  'expired',
] as const

/**
 * The state of an attempt. `signed`: stored, and perhaps sent · `broadcast`: a node accepted it · `refused`: a node refused it · `mined` /
 * `reverted`: the chain includes it · `superseded`: the chain includes another transaction with its nonce · `expired`: its time is over,
 * and the chain proves that it was not included.
 */
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

/** One signed version of a transaction. */
export interface Attempt<D extends Draft = Draft> {
  /** 1 for the first. */
  readonly number: number
  readonly kind: AttemptKind
  /** The address whose nonce the attempt uses: the relayer's, a channel's, or that of the external signer. */
  readonly sourceAccount: string
  /**
   * Attempts of one transaction have different nonces only if another program used the earlier nonce, or the
   * earlier attempt expired. Absent on chains without nonces.
   */
  readonly nonce?: bigint
  readonly draft: D
  readonly signed: SignedDraft
  readonly signedAt: Date
  readonly broadcastAt?: Date
  readonly outcome: AttemptOutcome
  /** The node's reason for its refusal. */
  readonly error?: string
  /**
   * The number of times in a row that nodes refused it in unknown wording; absent for none. For a no-op that
   * was compared with such content, the number of times that nodes did not accept it either.
   */
  readonly refusals?: number
  /** Facts about the inclusion that the chain reported. */
  readonly result?: ChainResult
}

/**
 * A fee that the chain states it has charged, in the smallest unit. The types keep it apart from estimates
 * and limits, which are what a draft can cost at most.
 */
export type ChargedFee = Quantity<'charged fee'>

/** Facts about an inclusion that the record keeps. */
export interface ChainResult {
  /**
   * The fee that was charged, in the smallest unit. EVM: gas used at the effective price, with the fee for
   * the parent chain where a rollup adds one; absent in receipts without a price. Stellar: `feeAccount` paid
   * it. Solana: as a node tells it, and 0 where a block contains the transaction without having executed it;
   * absent where no node told it.
   */
  readonly feeCharged?: ChargedFee
  /** EVM: the gas that the execution used. */
  readonly gasUsed?: bigint
  /** EVM: the price that was paid for a unit of gas, in wei; absent in receipts without it. */
  readonly gasPrice?: bigint
  /**
   * EVM: the part of `feeCharged` for the data on the parent chain, in wei, where receipts tell it apart (OP
   * stack).
   */
  readonly l1Fee?: bigint
  /**
   * EVM: the part of `feeCharged` for the operator, in wei, where receipts have its rate (OP stack since
   * Isthmus).
   */
  readonly operatorFee?: bigint
  /**
   * The amount that arrived of the token in which the user pays for the fee, in its base units, as the chain
   * tells it; absent where no node told it, and for content without such a payment.
   */
  readonly received?: bigint
  /**
   * What moved if the execution succeeded; absent where the node did not tell it. EVM: tokens, by the events
   * of the receipt. Solana: by the instructions that ran, and the balances. Stellar: by the results and the
   * meta data of the operations.
   */
  readonly moved?: readonly Transfer[]
  /** There are more of them. */
  readonly movedMore?: true
  /** Solana: the compute units that the execution used; absent where no node told them. */
  readonly computeUnits?: bigint
  /**
   * Stellar: the hash of the envelope in the ledger, in hex. It differs from the attempt's hash when another
   * party sent the content.
   */
  readonly appliedHash?: string
  /**
   * Stellar: the account (`G…`) that paid the fee: the fee source of a fee bump, otherwise the source
   * account.
   */
  readonly feeAccount?: string
  /** Stellar: `TransactionResult`, XDR in base64. */
  readonly resultXdr?: string
  /** Stellar: the return value of the smart contract, `ScVal` as XDR in base64. */
  readonly returnValueXdr?: string
}

/** Facts about an inclusion that its receipt does not have. */
export interface InclusionDetails {
  /** The result with values that the receipt left out. */
  readonly result?: ChainResult
  /** Sentences that say what was asked for and did not happen, although the transaction succeeded. */
  readonly note?: string
}

/** A prepared draft. `logs` explains what the service changed or decided, for `metadata.logs`. */
export interface Prepared<D extends Draft = Draft> {
  readonly draft: D
  readonly logs: readonly string[]
  /**
   * The caller named a price at which the next block could not include it: a sentence with both numbers.
   * Nothing is signed until the market comes down to it.
   */
  readonly awaitsPrice?: string
  /** The next `prepare` of the same request can use this estimate and skip its simulation. */
  readonly knownGas?: bigint
  /**
   * A sentence that says that the chain already includes externally signed content, because a third party
   * sent it. A new request is refused with it; content that was accepted before is still signed, so that its
   * inclusion is found.
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

/**
 * The earlier attempts and the new content could both be included, so the service signs the new content after
 * those have expired.
 */
export interface AfterExpiry {
  readonly kind: 'after_expiry'
  readonly detail: string
  /** The maximum cost of the new content; absent if nothing will be signed, or no node returned its price. */
  readonly cost?: bigint
}
