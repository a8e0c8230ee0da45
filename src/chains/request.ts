import type { EvmPolicies, EvmRequest } from './evm/content.ts'
import type { SolanaPolicies, SolanaRequest } from './solana/content.ts'
import type { FeePayment } from './sponsoring.ts'
import type { StellarPolicies, StellarRequest } from './stellar/content.ts'

/** The request of any chain. */
export type ChainRequest = EvmRequest | StellarRequest | SolanaRequest

/** The rules of a relayer of any chain. */
export type Policies = EvmPolicies | StellarPolicies | SolanaPolicies

/** The account on whose behalf the caller acts. */
export interface Account<P extends Policies = Policies> {
  readonly address: string
  readonly policies: P
}

/** A transaction to sign unchanged, which the caller sends without the service. */
export type UnsignedTransaction = UnsignedEvm | UnsignedStellar | UnsignedSolana

export type UnsignedEvm =
  | {
      readonly type: 'evm'
      /** The request names its gas and its price. */
      readonly request: EvmRequest
      readonly nonce: bigint
    }
  | {
      readonly type: 'evm'
      /** RLP in `0x` hex. */
      readonly encoded: string
    }

export interface UnsignedStellar {
  readonly type: 'stellar'
  /** `TransactionEnvelope`, XDR in base64. */
  readonly envelope: string
}

export interface UnsignedSolana {
  readonly type: 'solana'
  /** Wire format in base64. */
  readonly transaction: string
  /** The payment inside it, if users pay the relayer. */
  readonly payment?: FeePayment
}
