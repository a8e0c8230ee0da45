import type { Signer } from '../signers/signer.ts'

/** How urgently a request wants to be included. */
export type Speed = 'fastest' | 'fast' | 'average' | 'safeLow'

/** What the caller wants done on an EVM chain, as accepted (group A of the contract). Amounts in wei. */
export interface EvmRequest {
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

/** The request of any chain. */
export type ChainRequest = EvmRequest

/** What one unit of gas may cost, in wei. `legacy` is transaction type 0, `eip1559` type 2 (EIP-1559). */
export type Fees =
  | { readonly kind: 'legacy'; readonly gasPrice: bigint }
  | { readonly kind: 'eip1559'; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }

/** Prepared, unsigned content. */
export interface Draft {
  readonly to?: string
  readonly value: bigint
  readonly data: string
  readonly gasLimit: bigint
  readonly fees: Fees
}

/** Final bytes and their hash. They are stored before they leave the process (I3). */
export interface SignedDraft {
  readonly raw: Uint8Array
  readonly hash: string
  readonly signature: Signature
}

/**
 * `r` and `s` 64 hex digits, `sig` is r, s and v in 130; no `0x` in any. `v` is 27 or 28 for messages and legacy
 * transactions, 0 or 1 for EIP-1559 ones.
 */
export interface Signature {
  readonly r: string
  readonly s: string
  readonly v: number
  readonly sig: string
}

/** Why an attempt was made. */
export type AttemptKind = 'send' | 'replace' | 'cancel' | 'expire' | 'abandon' | 'speed_up' | 'filler'

/**
 * What is known of an attempt. `signed`: stored, perhaps on its way · `broadcast`: a node took it · `refused`: a node
 * would not take it · `mined` / `reverted`: the chain includes it · `superseded`: the chain includes something else
 * with its nonce.
 */
export type AttemptOutcome = 'signed' | 'broadcast' | 'refused' | 'mined' | 'reverted' | 'superseded'

/** One signed version of a transaction. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number
  readonly kind: AttemptKind
  /** Attempts of one transaction differ in it only when something outside the service used the earlier one. */
  readonly nonce: bigint
  readonly draft: Draft
  readonly signed: SignedDraft
  readonly signedAt: Date
  readonly broadcastAt?: Date
  readonly outcome: AttemptOutcome
  /** What the node said when it refused. */
  readonly error?: string
}

/** A request that cannot be served. Data, not an exception: the caller of the API and the worker read it differently. */
export interface Refusal {
  readonly code:
    | 'insufficient_balance'
    | 'execution_reverted'
    | 'gas_limit_required'
    | 'gas_limit_too_high'
    | 'gas_limit_too_low'
    | 'gas_price_above_cap'
    | 'replacement_underpriced'
    | 'invalid_request'
    | 'not_supported'
  /** A sentence for a person, with the field and the number that would be accepted. */
  readonly detail: string
}

/** The answer to a question that may be refused, or that no node could answer (`unknown`, I6: never a no). */
export type Answer<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'unknown'; readonly detail: string }

/** A prepared draft with what the service changed or decided on the way, in sentences for `metadata.logs`. */
export interface Prepared {
  readonly draft: Draft
  readonly logs: readonly string[]
}

/**
 * What a node said to signed bytes. `accepted` includes "already known", and says so. `nonce_used`: the chain is past this
 * nonce, so one of the attempts, or something foreign, is included: ask for receipts. `refused`: these bytes will not do.
 * `later`: the node cannot take it now (predecessor missing, pool full, funds short); keep it. `unknown`: no answer.
 */
export type BroadcastResult =
  | { readonly kind: 'accepted'; readonly known?: true }
  | { readonly kind: 'nonce_used'; readonly detail: string }
  | { readonly kind: 'underpriced'; readonly detail: string }
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'later'; readonly detail: string }
  | { readonly kind: 'unknown'; readonly detail: string }

/** The chain's proof of inclusion. */
export interface Receipt {
  readonly hash: string
  readonly blockNumber: bigint
  readonly blockHash: string
  readonly success: boolean
  readonly gasUsed: bigint
}

/** `none`: a node that is not behind says it knows of no such receipt. */
export type ReceiptAnswer =
  | { readonly kind: 'included'; readonly receipt: Receipt }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

export interface Head {
  readonly number: bigint
  readonly hash: string
}

/** How new an answer has to be. */
export interface Freshness {
  /** The answering node has to have reached this height. Default: the highest that any endpoint told of lately. */
  readonly asOf?: bigint
}

/** News of blocks that come by themselves. */
export interface HeadFeed {
  /** Whether they are coming at present. */
  readonly live: boolean
  stop(): void
}

/** How one endpoint is doing. Of its url only the host: the rest is where providers put their keys. */
export interface EndpointReport {
  readonly host: string
  readonly healthy: boolean
  /** Height of the newest block that it told of. */
  readonly head?: bigint
  /** Until then it is left alone. */
  readonly restsUntil?: Date
  readonly lastError?: string
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

/** The account on whose behalf a question is asked. */
export interface Account {
  readonly address: string
  readonly policies: EvmPolicies
}

/** Prices of one unit of gas, in wei. */
export interface PriceComparison {
  /** The most that the draft pays. */
  readonly offered: bigint
  /** What the service would offer now at the same level. */
  readonly market: bigint
  /** What the next block asks at least; absent where blocks have no base fee. */
  readonly baseFee?: bigint
}

/**
 * Everything the rooms may ask of one concrete network. Holds no state that matters: a second instance in another
 * process gives the same answers. Only `broadcast` changes the world.
 */
export interface Chain {
  /** Fails when no endpoint answers with the configured chain id. */
  verify(): Promise<Answer<void>>
  /** An address as the chain writes it: EIP-55 here. The text is a valid address in any letter case. */
  canonicalAddress(text: string): string
  /** Problems that need no network: shapes, intrinsic gas, mixed pricing, the cap. */
  check(request: ChainRequest, account: Account): Refusal | undefined
  /**
   * Prices and gas for a new transaction. Simulates when gas is to be estimated; `knownGas` is an earlier estimate that
   * spares it.
   */
  prepare(request: ChainRequest, account: Account, knownGas?: bigint): Promise<Answer<Prepared>>
  /** A new draft that a node will take in place of all `attempts` (same nonce). */
  replace(request: ChainRequest, attempts: readonly Attempt[], account: Account): Promise<Answer<Prepared>>
  /** The newest attempt's content with a higher fee; refused when it would pass the cap. */
  speedUp(attempts: readonly Attempt[], level: Speed, account: Account): Promise<Answer<Prepared>>
  /** The request that does nothing and costs the least: value 0 to itself. */
  noop(account: Account): ChainRequest
  sign(draft: Draft, nonce: bigint, signer: Signer): Promise<SignedDraft>
  /** Signs a message for people (EIP-191, version 0x45), over its UTF-8 bytes. */
  signMessage(message: string, signer: Signer): Promise<Signature>
  /** In the order given; the results are in the same order. */
  broadcast(raws: readonly Uint8Array[]): Promise<BroadcastResult[]>
  head(): Promise<Answer<Head>>
  /**
   * Calls `listener` at each new block for as long as an endpoint tells of them by itself. It may tell late, twice or not at
   * all: a reason to look, never a fact.
   */
  onHead(listener: () => void): HeadFeed
  /** Nonces used so far in the newest block, per address: the next free one. Unknown from a node that is behind. */
  nonces(addresses: readonly string[], freshness?: Freshness): Promise<Answer<bigint>[]>
  /** `none` is never the word of a node that is behind. */
  receipts(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[]>
  /**
   * As `receipts`, of every endpoint that works: `included` when one has it, `none` only when all of those that are not
   * behind say so and there is one. For what cannot be taken back.
   */
  receiptsEverywhere(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[]>
  /** How each endpoint has been doing, as far as it was asked. */
  endpoints(): EndpointReport[]
  /** Hash of the block at this height in the chain as it is now. Unknown from a node that is behind. */
  blockHash(number: bigint, freshness?: Freshness): Promise<Answer<string>>
  /** Why an included attempt was reverted, decoded where the node still can tell. */
  revertReason(draft: Draft, from: string, block: bigint): Promise<string | undefined>
  balance(address: string): Promise<Answer<bigint>>
  /** The draft's price beside the network's, for this level. */
  comparePrice(draft: Draft, level: Speed): Promise<Answer<PriceComparison>>
  /** Most that the draft can take from the account: value and gas, in wei. */
  cost(draft: Draft): bigint
  /** What a speed means on this chain. */
  speed(level: Speed): { readonly priceMultiplier: number; readonly raiseAfterSeconds: number }
}
