import type { EvmRequest } from './evm/content.ts'

/** A transaction that the caller wants signed unchanged, to send it without the service. */
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
}
