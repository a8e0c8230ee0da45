import type { Speed } from '../speed.ts'

/** One instruction of a request (group B of the contract). */
export interface SolanaInstruction {
  /** Base58, as every address here. */
  readonly programId: string
  readonly accounts: readonly SolanaAccountMeta[]
  /** Base64. */
  readonly data: string
}

/** An account that an instruction is given. */
export interface SolanaAccountMeta {
  readonly pubkey: string
  readonly isSigner: boolean
  readonly isWritable: boolean
}

/** What the caller wants done on a Solana network, as accepted (group B of the contract). */
export interface SolanaRequest {
  readonly type: 'solana'
  /** A prebuilt transaction in wire format, base64. Exactly one of this and `instructions` is there. */
  readonly transaction?: string
  /** Empty only for the no-op of the service itself. */
  readonly instructions?: readonly SolanaInstruction[]
  /** How much is offered for priority; of no use where others have signed the price already. */
  readonly speed: Speed
  readonly validUntil?: Date
}

/** Prepared content of a Solana transaction. */
export interface SolanaDraft {
  readonly type: 'solana'
  /** Wire format in base64: complete but for the signature of the relayer, which is zero. */
  readonly transaction: string
  /** The most that signatures and priority cost, in lamports. */
  readonly fee: bigint
  /** What is offered for priority, in micro-lamports for each compute unit. */
  readonly unitPrice: bigint
  /** The most lamports that it moves out of the relayer's account, the fee aside. */
  readonly spends: bigint
  /**
   * A finalized block of this height proves that no later block includes it. Absent with a durable nonce, which has no end
   * of its own.
   */
  readonly expiresAt?: bigint
  /** The nonce account whose value stands in for a blockhash. */
  readonly nonceAccount?: string
  /**
   * With a durable nonce: a slot that was confirmed when it was prepared, which is before it was signed, so no block up to this one
   * holds it. Absent in what was signed before the service kept it.
   */
  readonly preparedAtSlot?: bigint
}

/** The rules of a Solana relayer, as configured; an absent rule has the default of the contract. Amounts in lamports. */
export interface SolanaPolicies {
  /** What must stay spendable on the account after everything in flight is paid. Default 10000000. */
  readonly minBalance?: bigint
  /** The most that one transaction may cost in fees. Default 1000000. */
  readonly maxFee?: bigint
  /** The only programs that instructions may call. Any when absent. */
  readonly allowedPrograms?: readonly string[]
  /** The only accounts that a transaction may name, besides the relayer and the programs. Not with `disallowedAccounts`. */
  readonly allowedAccounts?: readonly string[]
  /** Accounts that a transaction may not name. */
  readonly disallowedAccounts?: readonly string[]
  /** Most signatures of one transaction, the relayer's included. */
  readonly maxSignatures?: number
  /** Most bytes of one transaction. Default 1232, the most that the network takes. */
  readonly maxDataSize?: number
  /** Whose transactions may use the relayer as more than the payer of their fee. Default `own`. */
  readonly feePayerSpending?: FeePayerSpending
  /** The only RPC methods that callers may use. Default: those that read. */
  readonly allowedRpcMethods?: readonly string[]
}

/**
 * `own`: those that nobody else signs, so nobody but the caller asks for them · `always`: all · `never`: none, so the relayer
 * pays fees and nothing else.
 */
export type FeePayerSpending = 'own' | 'always' | 'never'
