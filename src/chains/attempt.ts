import type { EvmDraft } from './evm/content.ts'
import type { SolanaDraft } from './solana/content.ts'
import type { StellarDraft } from './stellar/content.ts'

/** Prepared, unsigned content of any chain. */
export type Draft = EvmDraft | StellarDraft | SolanaDraft

/** Final bytes and their hash. They are stored before they leave the process (I3). */
export interface SignedDraft {
  readonly raw: Uint8Array
  readonly hash: string
  /**
   * Stellar, in a fee bump: the hash of the inner transaction, in hex. Anybody may wrap the inner transaction in a fee bump of their own
   * (CAP-15), so it can be applied under an outer hash that nobody here knows; this one finds it in any case.
   */
  readonly innerHash?: string
  readonly signature: Signature
}

/**
 * `r` and `s` 64 hex digits, `sig` both together, and `v` in two more digits where the curve has one; no `0x` in any. ECDSA:
 * `v` is 27 or 28 for messages and legacy transactions, 0 or 1 for EIP-1559 ones. Ed25519: `v` is 0.
 */
export interface Signature {
  readonly r: string
  readonly s: string
  readonly v: number
  readonly sig: string
}

/** A signed message. Chains of ed25519 accounts add both in the encoding that their tools read. */
export interface MessageSignature extends Signature {
  readonly signature?: string
  readonly publicKey?: string
}

/**
 * Why an attempt was made. `renew`: an earlier one lapsed · `errand`: the service's own, because others wait for what it
 * does · the others as the contract tells.
 */
export type AttemptKind =
  | 'send'
  | 'replace'
  | 'cancel'
  | 'expire'
  | 'abandon'
  | 'speed_up'
  | 'gap_filler'
  | 're_sign'
  | 'setup'

/**
 * What is known of an attempt. `signed`: stored, perhaps on its way · `broadcast`: a node took it · `refused`: a node
 * would not take it · `mined` / `reverted`: the chain includes it · `superseded`: the chain includes something else
 * with its nonce · `lapsed`: its time is over, and the chain has proved that it was not included.
 */
export type AttemptOutcome =
  | 'signed'
  | 'broadcast'
  | 'refused'
  | 'mined'
  | 'reverted'
  | 'superseded'
  | 'expired'

/** One signed version of a transaction. */
export interface Attempt<D extends Draft = Draft> {
  /** 1 for the first. */
  readonly number: number
  readonly kind: AttemptKind
  /** The address whose nonce it takes: the relayer's, one of its channels', or that of whoever signed its content. */
  readonly sourceAccount: string
  /**
   * Attempts of one transaction differ in it only when something outside the service used the earlier one, or when the
   * earlier one lapsed. Absent on chains without nonces.
   */
  readonly nonce?: bigint
  readonly draft: D
  readonly signed: SignedDraft
  readonly signedAt: Date
  readonly broadcastAt?: Date
  readonly outcome: AttemptOutcome
  /** What the node said when it refused. */
  readonly error?: string
  /** What the chain told of it when it was included. */
  readonly result?: ChainResult
}

/** What is worth keeping of an inclusion, by chain. */
export interface ChainResult {
  /** Stellar: what was really charged, in stroops. `feeAccount` paid it. */
  readonly feeCharged?: bigint
  /** Stellar: the hash of the envelope that the ledger holds, in hex. Another one than the attempt's where somebody else sent its content. */
  readonly appliedHash?: string
  /** Stellar: the account (`G…`) that paid the fee: the fee source of a fee bump, else the source. */
  readonly feeAccount?: string
  /** Stellar: `TransactionResult`, XDR in base64. */
  readonly resultXdr?: string
  /** Stellar: what the smart contract returned, `ScVal` as XDR in base64. */
  readonly returnValueXdr?: string
}
