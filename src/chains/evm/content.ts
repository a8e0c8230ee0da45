import type { Speed } from '../speed.ts'

/** What the caller wants done on an EVM chain, as accepted (group A of the contract). Amounts in wei. */
export interface EvmRequest {
  readonly type: 'evm'
  /** EIP-55 address; absent for a contract creation. */
  readonly to?: string
  readonly value: bigint
  /** `0x` hex; absent means empty. */
  readonly data?: string
  readonly gasLimit?: bigint
  readonly gasPrice?: bigint
  readonly maxFeePerGas?: bigint
  readonly maxPriorityFeePerGas?: bigint
  readonly speed?: Speed
  readonly validUntil?: Date
}

/** What one unit of gas may cost, in wei. `legacy` is transaction type 0, `eip1559` type 2 (EIP-1559). */
export type Fees =
  | { readonly kind: 'legacy'; readonly gasPrice: bigint }
  | { readonly kind: 'eip1559'; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }

/** Prepared, unsigned content of an EVM transaction. */
export interface EvmDraft {
  readonly type: 'evm'
  readonly to?: string
  readonly value: bigint
  readonly data: string
  readonly gasLimit: bigint
  readonly fees: Fees
}

/** The rules of an EVM relayer, as configured; an absent rule has the default of the contract. */
export interface EvmPolicies {
  /** `false` forces legacy pricing. Default: whether the network has the feature `eip1559`. */
  readonly eip1559Pricing?: boolean
  /** `false`: every request must bring its own `gas_limit`. Default true. */
  readonly gasLimitEstimation?: boolean
  /** The most that one unit of gas may cost, in wei. Default: no cap. */
  readonly gasPriceCap?: bigint
  /** What must stay on the account after everything in flight is paid, in wei. Default 1. */
  readonly minBalance?: bigint
  readonly privateTransactions?: boolean
  /** Lower-case addresses that may receive. Default: any. */
  readonly whitelistReceivers?: readonly string[]
}
