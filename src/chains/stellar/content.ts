import type { Quantity } from '../../lib/bigint.ts'
import type { FeePayment, SponsoringPolicies } from '../sponsoring.ts'
import type { StellarMemo, StellarOperation } from './model/operation.ts'

/**
 * The accepted request of a caller on a Stellar network (group C of the contract). Amounts are in stroops.
 */
export interface StellarRequest {
  readonly type: 'stellar'
  /** The network that the caller named, which must be the relayer's. */
  readonly network: string
  /** A request has either `operations` or `transactionXdr`. */
  readonly operations?: readonly StellarOperation[]
  /** Source of the operations, `G…` or `M…`. Default: the relayer's account. */
  readonly sourceAccount?: string
  /**
   * A prebuilt `TransactionEnvelope`, XDR in base64. It is externally signed when `feeBump` is set, otherwise
   * unsigned.
   */
  readonly transactionXdr?: string
  /** The service wraps the signed `transactionXdr` in a fee bump that the relayer pays (CAP-15). */
  readonly feeBump?: boolean
  /** The highest fee of inclusion and resources together. Default: the contract's. */
  readonly maxFee?: bigint
  readonly memo?: StellarMemo
  /** Nothing is signed before this time. */
  readonly validFrom?: Date
  readonly validUntil?: Date
  /** Only networks with a base fee for each block have such a condition. */
  readonly when?: never
  /**
   * The service created the request only to use up a sequence number. A caller's own request can have the
   * same operation.
   */
  readonly isNoop?: true
  /**
   * The user's authorization of a smart contract call, XDR in base64; the service then adds it to the
   * transaction.
   */
  readonly signedAuthEntry?: string
  /** The payment inside the transaction, which others have signed. */
  readonly payment?: FeePayment
}

/** A number of ledgers from the first one. */
export type LedgerSequence = Quantity<'ledger sequence'>

/** A time of a ledger, in seconds since 1970. */
export type UnixSeconds = Quantity<'unix seconds'>

/** Prepared content of a Stellar transaction. The signing adds source account and sequence number. */
export interface StellarDraft {
  readonly type: 'stellar'
  /**
   * `TransactionEnvelope`, XDR in base64. The service's own: unsigned, with the relayer as its source, and
   * fee and sequence number 0. Externally signed: exactly the bytes that the caller sent.
   */
  readonly envelope: string
  readonly externallySigned: boolean
  /**
   * The bid for inclusion, in stroops for each operation; a fee bump counts as one more operation (CAP-15).
   */
  readonly feePerOperation: bigint
  readonly operationCount: number
  /** The fee for the resources of a smart contract call, in stroops; 0 without one. */
  readonly resourceFee: bigint
  /**
   * The transaction is sent inside a fee bump: always for a replacement, and for externally signed content.
   */
  readonly bumped: boolean
  /** The highest amount of native stroops that it moves out of the relayer's account, without fees. */
  readonly spends: bigint
  /** The highest fee after its bid was raised, in stroops. */
  readonly maxFee: bigint
  /**
   * The close time of the newest ledger when it was prepared, in Unix seconds: no ledger that closed in an
   * earlier second includes it.
   */
  readonly preparedAt: UnixSeconds
  /**
   * The last second in which a ledger that includes the transaction may close, in Unix seconds. A ledger that
   * closes in a later second proves that no later one includes the transaction. One that closes in this
   * second does not: the next may also close in it (CAP-88).
   */
  readonly expiresAt?: UnixSeconds
  /**
   * The first ledger that is too late, where the signer set one (`maxLedger`). The closing of the ledger
   * before it proves that no later one includes the transaction.
   */
  readonly maxLedger?: LedgerSequence
}

/** The rules of a Stellar relayer, as configured; an absent rule has the default of the contract. */
export interface StellarPolicies extends SponsoringPolicies {
  /**
   * The amount that must stay spendable on the account after everything in flight is paid, in stroops.
   * Default 1000000.
   */
  readonly minBalance?: bigint
  /** An alert begins when the account can spend less. Default: none. */
  readonly warnBalance?: bigint
  /** The highest fee of one transaction, regardless of its request, in stroops. Default: no cap. */
  readonly maxFee?: bigint
  /** A signed version may wait this long for its ledger, in seconds. Default 120. */
  readonly timeoutSeconds?: number
  /** The only RPC methods that callers may use. Default: methods that only read. */
  readonly allowedRpcMethods?: readonly string[]
  /** The conversion surcharge, in percent. Default 1. */
  readonly slippagePercentage?: number
  /**
   * The contract through which smart contract calls pay (FeeForwarder). Default: none, and such calls are not
   * sponsored.
   */
  readonly feeForwarder?: string
}
