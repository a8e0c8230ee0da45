import type { Quantity } from '../../lib/bigint.ts'
import type { Speed } from '../speed.ts'
import type { FeePayment, SponsoringPolicies } from '../sponsoring.ts'

/** One instruction of a request (group B of the contract). */
export interface SolanaInstruction {
  /** Base58, like every address here. */
  readonly programId: string
  readonly accounts: readonly SolanaAccountMeta[]
  /** Base64. */
  readonly data: string
}

/** An account that an instruction receives. */
export interface SolanaAccountMeta {
  readonly pubkey: string
  readonly isSigner: boolean
  readonly isWritable: boolean
}

/** An instruction by its name in an IDL of Anchor, as JSON has it. */
export interface IdlCall {
  readonly idl: Readonly<Record<string, unknown>>
  readonly instruction: string
  /** Values by argument name; if absent, none. */
  readonly args?: Readonly<Record<string, unknown>>
  /** Addresses by account name; if absent, none. */
  readonly accounts?: Readonly<Record<string, unknown>>
  /** Accounts after those that the IDL names. */
  readonly remainingAccounts?: readonly SolanaAccountMeta[]
}

/** The parts of an instruction that a call by name describes. */
export type EncodedInstruction = Pick<SolanaInstruction, 'accounts' | 'data'>

/** The accepted request of a caller on a Solana network (group B of the contract). */
export interface SolanaRequest {
  readonly type: 'solana'
  /** A prebuilt transaction in wire format, base64. A request has either this or `instructions`. */
  readonly transaction?: string
  /** The list is empty only for the no-op of the service itself. */
  readonly instructions?: readonly SolanaInstruction[]
  /** The level of the priority price; it has no effect when others have signed the price already. */
  readonly speed: Speed
  /** Nothing is signed before this time. */
  readonly validFrom?: Date
  readonly validUntil?: Date
  /** Only networks with a base fee for each block have such a condition. */
  readonly when?: never
  /** The payment inside the transaction, which others have signed. */
  readonly payment?: FeePayment
}

/** The number of a slot, which may have no block. */
export type Slot = Quantity<'slot'>

/** The number of a block, by which blockhashes expire: slots without a block do not count. */
export type BlockHeight = Quantity<'block height'>

/** Prepared content of a Solana transaction. */
export interface SolanaDraft {
  readonly type: 'solana'
  /** Wire format in base64, complete except for the signature of the relayer, which is zero. */
  readonly transaction: string
  /** The highest cost of signatures and priority, in lamports. */
  readonly fee: bigint
  /** The price for priority, in micro-lamports for each compute unit. */
  readonly unitPrice: bigint
  /** The highest amount that it moves out of the relayer's account, without the fee, in lamports. */
  readonly spends: bigint
  /**
   * A finalized block of this height proves that no later block includes the transaction. Absent with a
   * durable nonce, which does not expire.
   */
  readonly expiresAt?: BlockHeight
  /** The nonce account whose value replaces the blockhash. */
  readonly nonceAccount?: string
  /**
   * With a durable nonce: a slot that was confirmed before the transaction was signed, so no block up to this
   * one includes it.
   */
  readonly preparedAtSlot?: Slot
}

/**
 * The rules of a Solana relayer, as configured; an absent rule has the default of the contract. Amounts in
 * lamports.
 */
export interface SolanaPolicies extends SponsoringPolicies {
  /**
   * The amount that must stay spendable on the account after everything in flight is paid. Default 10000000.
   */
  readonly minBalance?: bigint
  /** An alert begins when the account can spend less. Default: none. */
  readonly warnBalance?: bigint
  /** The highest fee of one transaction. Default 1000000. */
  readonly maxFee?: bigint
  /** The only programs that instructions may call. Default: any. */
  readonly allowedPrograms?: readonly string[]
  /**
   * The only accounts that a transaction may name, besides the relayer and the programs. It excludes
   * `disallowedAccounts`.
   */
  readonly allowedAccounts?: readonly string[]
  /** Accounts that a transaction may not name. */
  readonly disallowedAccounts?: readonly string[]
  /** The highest number of signatures of one transaction, the relayer's included. */
  readonly maxSignatures?: number
  /** The highest number of bytes of one transaction. Default 1232, the limit of the network. */
  readonly maxDataSize?: number
  /** Selects the transactions that may use the relayer as more than the payer of their fee. Default `own`. */
  readonly feePayerSpending?: FeePayerSpending
  /** The only RPC methods that callers may use. Default: methods that only read. */
  readonly allowedRpcMethods?: readonly string[]
}

/**
 * `own`: transactions with no other signer · `always`: all · `never`: none, so the relayer pays fees and
 * nothing else · `token_accounts`: none, but for the rent of associated token accounts that they open.
 */
export type FeePayerSpending = 'own' | 'always' | 'never' | 'token_accounts'
