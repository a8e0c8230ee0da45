import type { StellarMemo, StellarOperation } from './model/operation.ts'

/** What the caller wants done on a Stellar network, as accepted (group C of the contract). Amounts in stroops. */
export interface StellarRequest {
  readonly type: 'stellar'
  /** As the caller named it; it has to be the relayer's. */
  readonly network: string
  /** Exactly one of `operations` and `transactionXdr` is there. */
  readonly operations?: readonly StellarOperation[]
  /** Source of the operations, `G…` or `M…`; the relayer's account when absent. */
  readonly sourceAccount?: string
  /** A prebuilt `TransactionEnvelope`, XDR in base64. Signed by somebody else when `feeBump` is set, else unsigned. */
  readonly transactionXdr?: string
  /** Wrap the signed `transactionXdr` in a fee bump that the relayer pays (CAP-15). */
  readonly feeBump?: boolean
  /** The most that inclusion and resources together may cost; the default of the contract when absent. */
  readonly maxFee?: bigint
  readonly memo?: StellarMemo
  readonly validUntil?: Date
}

/** Prepared content of a Stellar transaction. Source account and sequence number are filled in when it is signed. */
export interface StellarDraft {
  readonly type: 'stellar'
  /**
   * `TransactionEnvelope`, XDR in base64. Ours: unsigned, with the relayer as its source, and fee and sequence number 0.
   * Signed by somebody else (`foreign`): exactly as it was given.
   */
  readonly envelope: string
  readonly externallySigned: boolean
  /** The bid for inclusion, in stroops for each operation; a fee bump counts as one more operation (CAP-15). */
  readonly feePerOperation: bigint
  readonly operationCount: number
  /** For the resources of a smart contract call, in stroops; 0 without one. */
  readonly resourceFee: bigint
  /** Whether it goes out inside a fee bump: always so for what replaces another, and for what is foreign. */
  readonly bumped: boolean
  /** The most native stroops that it moves out of the relayer's account, fees aside. */
  readonly spends: bigint
  /** The most that it may cost when its bid has to be raised, in stroops. */
  readonly maxFee: bigint
  /** Unix time in seconds. A ledger that closes at this time or later proves that no later one includes it. */
  readonly expiresAt?: bigint
  /** The ledger from which on it is too late, where its signer has set one (`maxLedger`). The closing of the one before proves that no later one includes it. */
  readonly maxLedger?: bigint
}

/** The rules of a Stellar relayer, as configured; an absent rule has the default of the contract. */
export interface StellarPolicies {
  /** What must stay spendable on the account after everything in flight is paid, in stroops. Default 1000000. */
  readonly minBalance?: bigint
  /** The most that one transaction may cost, whatever it asks for, in stroops. Default: no cap of the relayer's own. */
  readonly maxFee?: bigint
  /** How long a signed version may wait for its ledger, in seconds. Default 120. */
  readonly timeoutSeconds?: number
  /** The only RPC methods that callers may use. Default: those that read. */
  readonly allowedRpcMethods?: readonly string[]
}
