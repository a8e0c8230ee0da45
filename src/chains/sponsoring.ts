/** A source that names its price in the configuration. */
interface FixedPrice {
  readonly type: 'fixed'
  /** Tokens for one coin, in decimal digits: `"148.25"`. */
  readonly price: string
}

/** A price on the network itself. */
export interface OraclePrice {
  readonly type: 'oracle'
  /** Stellar: the contract of the oracle (SEP-40). */
  readonly contract?: string
  /** Stellar: the symbol or the contract of lumens at the oracle. Solana: the price account of SOL. */
  readonly native?: string
  /** Likewise of the token. If absent, the oracle's prices are in the token. */
  readonly token?: string
}

/** A price in the JSON of a web server. */
export interface HttpPrice {
  readonly type: 'http'
  readonly url: string
  /** The JSON pointer of the price, in tokens for one coin. */
  readonly pointer: string
  /**
   * The JSON pointer of its time: RFC 3339, or Unix seconds or milliseconds. If absent, the price is as old
   * as its response.
   */
  readonly time_pointer?: string
}

/** Prices in dollars by the price API of Jupiter (`/price/v3`), of tokens on Solana. */
export interface JupiterPrice {
  readonly type: 'jupiter'
  /** The address of the API, without `/price/v3`. */
  readonly url: string
}

/** Prices in dollars by the API of Pyth (Hermes, `/v2/updates/price/latest`). */
export interface PythPrice {
  readonly type: 'pyth'
  /** The address of the API, without `/v2/updates/price/latest`. */
  readonly url: string
  /** The id of the price feed of the coin, in hex. */
  readonly native: string
  /** The id of that of the token. If absent, the prices of the coin are in the token. */
  readonly token?: string
  /** A price whose confidence interval is wider than this part of it does not count. Default 2. */
  readonly max_confidence_percentage?: number
}

export type PriceSource = FixedPrice | OraclePrice | HttpPrice | JupiterPrice | PythPrice

/** The rules for the price of a token. */
export interface TokenPrice {
  /** One source, or two that must agree. */
  readonly sources: readonly PriceSource[]
  /** Default 60. */
  readonly max_age_seconds?: number
  /** The most by which two sources may differ, in percent. Default 2. */
  readonly max_difference_percentage?: number
}

/**
 * A token in which users can pay. The names are those of the contract, because the policy is stored, shown
 * and compared as it is. Amounts are in base units of the token.
 */
export interface AllowedToken {
  /** Solana. */
  readonly mint?: string
  /** Stellar: `native`, `CODE:ISSUER`, or a contract. */
  readonly asset?: string
  readonly decimals?: number
  readonly symbol?: string
  readonly max_allowed_fee?: bigint
  /** The alert `token_balance_high` begins above this balance. */
  readonly max_token_balance?: bigint
  readonly swap_config?: SwapConfig
  readonly price?: TokenPrice
}

/** Only `slippage_percentage` has an effect: the plugin `swap` has a configuration of its own. */
export interface SwapConfig {
  readonly slippage_percentage?: number
  readonly min_amount?: bigint
  readonly max_amount?: bigint
  readonly retain_min_amount?: bigint
}

/** The policies by which others pay the relayer for its fees. */
export interface SponsoringPolicies {
  /**
   * `user`: content that others sign pays for its fee in a token. Default: `user` with `allowedTokens`,
   * otherwise `relayer`.
   */
  readonly feePaymentStrategy?: 'user' | 'relayer'
  readonly allowedTokens?: readonly AllowedToken[]
  /** The surcharge on the fee, in percent. */
  readonly feeMarginPercentage?: number
}

/** Returns true if content that others sign must pay for its fee. */
export function isPaidByUsers({ feePaymentStrategy, allowedTokens = [] }: SponsoringPolicies): boolean {
  return (feePaymentStrategy ?? (allowedTokens.length > 0 ? 'user' : 'relayer')) === 'user'
}

/** Returns the name of a token in requests. */
export function tokenId({ mint, asset = '' }: AllowedToken): string {
  return mint ?? asset
}

/** The payment that accepted content contains. Content with it was built by the service. */
export interface FeePayment {
  /** The id of its stored quote. */
  readonly quoteId: string
  readonly token: string
  /** In base units of the token. */
  readonly amount: bigint
  /** The account that pays. */
  readonly payer: string
  /** The account that receives: a token account on Solana. */
  readonly receiver: string
  /**
   * The fee that is paid for, in the smallest unit of the native currency. The transaction never costs more.
   */
  readonly fee: bigint
  /** The end of the quote. Nothing is accepted with it afterwards. */
  readonly validUntil: Date
}

/** Refuses content of others that does not pay. */
export const PAYMENT_REQUIRED =
  'others sign it, and the relayer is paid by users (fee_payment_strategy): it must be as buildSponsoredTransaction returned it, signed and in time.'
