import type { Speed } from '../speed.ts'

/** The accepted request of a caller on an EVM chain (group A of the contract). Amounts are in wei. */
export interface EvmRequest {
  readonly type: 'evm'
  /** EIP-55 address; absent for a contract creation. */
  readonly to?: string
  readonly value: bigint
  /** `0x` hex; absent means empty. */
  readonly data?: string
  readonly accessList?: readonly AccessListEntry[]
  /** Never empty. */
  readonly authorizationList?: readonly Authorization[]
  readonly gasLimit?: bigint
  readonly gasPrice?: bigint
  readonly maxFeePerGas?: bigint
  readonly maxPriorityFeePerGas?: bigint
  readonly speed?: Speed
  /** Nothing is signed before this time. */
  readonly validFrom?: Date
  readonly validUntil?: Date
  /** Nothing is signed at prices of the market before this is true. */
  readonly when?: FeeCondition
  /** The service created the request only to use up a nonce, so it must run no code. */
  readonly isNoop?: true
  /** Users pay for fees in tokens on other chains only. */
  readonly payment?: never
}

/** A state of the network's fee that a transaction waits for. It is judged when the transaction is signed. */
export interface FeeCondition {
  /** The most that the base fee of the next block may be, or the gas price where blocks have none, in wei. */
  readonly feeAtMost: bigint
  /** The end of the wait lets it expire, or sends it. */
  readonly atEnd: 'expire' | 'send'
  /** With `send`, the end of the wait; one that expires has `validUntil`. */
  readonly until?: Date
}

/** An account and its storage that the transaction announces to use (EIP-2930). */
export interface AccessListEntry {
  readonly address: string
  /** Each is 32 bytes in `0x` hex. */
  readonly storageKeys: readonly string[]
}

/**
 * The permission of an account to run the code of a contract as its own (EIP-7702), as the account signed it.
 */
export interface Authorization {
  /** 0 means every network. */
  readonly chainId: number
  /** The contract whose code the account runs; the zero address ends a delegation. */
  readonly address: string
  readonly nonce: bigint
  readonly yParity: 0 | 1
  /** Like `s` 32 bytes in `0x` hex. */
  readonly r: string
  readonly s: string
}

/** A call of a smart contract by the name of its function, as JSON has it. */
export interface NamedCall {
  /**
   * A signature, such as `transfer(address,uint256)`, or the name of a function of `abi` or of the registered
   * ABI.
   */
  readonly function: string
  /** In order, or by name. If absent, none. */
  readonly args?: readonly unknown[] | Readonly<Record<string, unknown>>
  readonly abi?: readonly unknown[]
}

/** The functions of the ABI that is registered for the called contract. */
export interface RegisteredFunctions {
  /** The address of the contract, and the path under which its ABI is registered, for messages. */
  readonly contract: string
  readonly path: string
  /** As in `ReadAbi`; undefined if no ABI is registered. */
  readonly functions: readonly unknown[] | undefined
}

/** An ABI that a caller registers. */
export interface ReadAbi {
  /** Its items with the fields that decide how calls, events and errors are encoded; plain JSON. */
  readonly document: readonly object[]
  /** Its functions by the key that `callKey` returns for the data of their calls; plain JSON. */
  readonly functions: Readonly<Record<string, object>>
}

/**
 * A value of an argument as JSON: integers are decimal strings, bytes `0x` hex; a tuple is an object where
 * its components have names.
 */
export type ShownValue = string | boolean | readonly ShownValue[] | { readonly [name: string]: ShownValue }

/** The data of a transaction as a call of a function. */
export interface DecodedCall {
  /** The signature: `transfer(address,uint256)`. */
  readonly function: string
  /**
   * `registered`: from the ABI that is registered for the contract · `standard`: a function that many
   * contracts have.
   */
  readonly source: 'registered' | 'standard'
  /** `name` is null where the ABI has none. */
  readonly args: readonly {
    readonly name: string | null
    readonly type: string
    readonly value: ShownValue
  }[]
}

/** A log as an event of its contract. */
export interface DecodedEvent extends Omit<DecodedCall, 'function'> {
  /** The signature: `Transfer(address,address,uint256)`. */
  readonly event: string
}

/**
 * The highest price of one unit of gas, in wei. `legacy` is transaction type 0, `eip1559` type 2 (EIP-1559).
 */
export type Fees =
  | { readonly kind: 'legacy'; readonly gasPrice: bigint }
  | { readonly kind: 'eip1559'; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }

/** Prepared, unsigned content of an EVM transaction. */
export interface EvmDraft {
  readonly type: 'evm'
  readonly to?: string
  readonly value: bigint
  readonly data: string
  readonly accessList?: readonly AccessListEntry[]
  readonly authorizationList?: readonly Authorization[]
  readonly gasLimit: bigint
  readonly fees: Fees
  /** OP stack: the maximum fee besides gas, in wei. */
  readonly rollupFee?: bigint
  /** The newest block when it was priced. Absent if no node returned it. */
  readonly preparedAtBlock?: bigint
}

/**
 * The default of `feeLimitMultiplier`. The market's price pays through five full blocks already, and it is
 * read again for each raise; if blocks still leave out a bid of five times the market, the reason is not its
 * price. It is also the default of the transaction manager of the OP stack (`--fee-limit-multiplier`). A
 * higher value lets a transaction that no block includes cost more; a lower one leaves no room for raises if
 * the market is read too low.
 */
export const DEFAULT_FEE_LIMIT_MULTIPLIER = 5

/** The rules of an EVM relayer, as configured; an absent rule has the default of the contract. */
export interface EvmPolicies {
  /** `false` forces legacy pricing. Default: the network's feature `eip1559` decides. */
  readonly eip1559Pricing?: boolean
  /** `true`: the relayer answers the methods of a wallet over JSON-RPC. Default false. */
  readonly walletRpc?: boolean
  /**
   * Chain ids, in decimal digits, for which typed data is signed besides that of the network; `*` means all.
   * Default: none.
   */
  readonly typedDataChainIds?: readonly string[]
  /** `false`: every request must bring its own `gas_limit`. Default true. */
  readonly gasLimitEstimation?: boolean
  /** `true`: requests may bring an authorization list (EIP-7702). Default false. */
  readonly allowAuthorizationList?: boolean
  /** The highest price of one unit of gas, in wei. Default: no cap. */
  readonly gasPriceCap?: bigint
  /** The most that one transaction may cost in fees, in wei. Default: that of the network. */
  readonly txFeeCap?: bigint
  /**
   * The service never raises a fee above this many times the current market. Default
   * `DEFAULT_FEE_LIMIT_MULTIPLIER`.
   */
  readonly feeLimitMultiplier?: number
  /** The amount that must stay on the account after everything in flight is paid, in wei. Default 1. */
  readonly minBalance?: bigint
  /** An alert begins when the account can spend less. Default: none. */
  readonly warnBalance?: bigint
  /** `true`: signed bytes go to the private endpoints of the network only. Default false. */
  readonly privateTransactions?: boolean
  /**
   * Blocks after which a private transaction that is not included goes to the ordinary endpoints as well.
   * Default: never.
   */
  readonly privateFallbackBlocks?: number
  /** Lower-case addresses that may receive funds or calls. Default: any. */
  readonly whitelistReceivers?: readonly string[]
  /** The only RPC methods that callers may use. Default: methods that only read. */
  readonly allowedRpcMethods?: readonly string[]
}

/** Structured data to sign (EIP-712): the two hashes, or the document from which they are computed. */
export type TypedData = TypedHashes | TypedDocument

/** Both are 32 bytes in `0x` hex. */
export interface TypedHashes {
  readonly kind: 'hashes'
  readonly domainSeparator: string
  readonly structHash: string
}

/**
 * The unchecked document of a caller: its values may not match its types. Integers beyond 2^53 are bigint.
 */
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
