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
  /** One of the service's own that only takes a nonce, and must run no code. */
  readonly isNoop?: true
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
  /** The only RPC methods that callers may use. Default: those that read. */
  readonly allowedRpcMethods?: readonly string[]
}

/** Structured data to sign (EIP-712): the two hashes, or what they are made of. */
export type TypedData = TypedHashes | TypedDocument

/** Both are 32 bytes in `0x` hex. */
export interface TypedHashes {
  readonly kind: 'hashes'
  readonly domainSeparator: string
  readonly structHash: string
}

/** As it came: nothing is known yet of whether the values are what the types say. Integers beyond 2^53 are bigint. */
export interface TypedDocument {
  readonly kind: 'document'
  readonly domain: Readonly<Record<string, unknown>>
  readonly types: Readonly<Record<string, readonly TypedField[]>>
  readonly primaryType: string
  readonly message: Readonly<Record<string, unknown>>
}

/** A field of a struct of EIP-712. */
export interface TypedField {
  readonly name: string
  readonly type: string
}
