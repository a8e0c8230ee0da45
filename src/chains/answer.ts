import type { ChainResult } from './attempt.ts'

/** A request that cannot be served. Data, not an exception: the caller of the API and the worker read it differently. */
export interface Refusal {
  readonly code:
    | 'insufficient_balance'
    | 'execution_reverted'
    | 'account_not_found'
    | 'already_accepted'
    | 'fee_above_cap'
    | 'fee_payer_at_risk'
    | 'gas_limit_required'
    | 'gas_limit_too_high'
    | 'gas_limit_too_low'
    | 'gas_price_above_cap'
    | 'replacement_underpriced'
    | 'invalid_request'
    | 'policy_violation'
    | 'not_supported'
  /** A sentence for a person, with the field and the number that would be accepted. */
  readonly detail: string
  /** Another endpoint was asked and did not answer, so it may know better: nothing that was accepted may end because of this (I6). */
  readonly unanswered?: true
}

/** The answer to a question that may be refused, or that no node could answer (`unknown`, I6: never a no). */
export type Answer<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'unknown'; readonly detail: string }

/**
 * What a node said to signed bytes. `accepted` includes "already known", and says so. `nonce_used`: the chain is past this
 * nonce, so one of the attempts, or something foreign, is included: ask for receipts. `refused`: these bytes will not do.
 * `too_cheap`, `too_dear`: at this price no endpoint lets them pass; at another one it may. `gas_limit`: with this gas limit they
 * will not do; with another one they may. `later`: the node cannot take it now (predecessor missing, pool full, funds short); keep
 * it. `unknown`: no answer. `minimum`: the whole fee that the node would take, in the smallest unit. `unanswered`: another endpoint
 * was offered the bytes and did not answer, so it may have taken them.
 */
export type BroadcastResult =
  | { readonly kind: 'accepted'; readonly known?: true }
  | { readonly kind: 'nonce_used'; readonly detail: string }
  | {
      readonly kind: 'underpriced'
      readonly detail: string
      readonly minimum?: bigint
      readonly unanswered?: true
    }
  | { readonly kind: 'too_cheap'; readonly detail: string; readonly unanswered?: true }
  | { readonly kind: 'too_dear'; readonly detail: string; readonly unanswered?: true }
  | { readonly kind: 'gas_limit'; readonly detail: string; readonly unanswered?: true }
  | { readonly kind: 'refused'; readonly detail: string; readonly unanswered?: true }
  | { readonly kind: 'later'; readonly detail: string }
  | { readonly kind: 'unknown'; readonly detail: string }

/** The chain's proof of inclusion. */
export interface Receipt {
  readonly hash: string
  readonly blockNumber: bigint
  readonly blockHash: string
  readonly success: boolean
  /** Where finality is told by the receipt itself: whether nothing can undo the inclusion any more. */
  readonly final?: boolean
  /** Why it came to nothing, where the receipt itself tells. */
  readonly failure?: string
  readonly result?: ChainResult
}

/** `none`: a node that is not behind says it knows of no such receipt. */
export type ReceiptAnswer =
  | { readonly kind: 'included'; readonly receipt: Receipt }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

/**
 * The proof of one transaction's fate, asked of every endpoint. `absent`: none of its attempts is in the chain up to `asOf`, proved
 * positively; the silence of a node that may have forgotten proves nothing. `unknown` with `unprovable`: asking again later cannot
 * help, because no endpoint has the history any more; an operator has to decide.
 */
export type InclusionProof =
  | { readonly kind: 'included'; readonly number: number; readonly receipt: Receipt }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly detail: string; readonly unprovable?: true }

export interface Head {
  readonly number: bigint
  readonly hash: string
  /**
   * How far the chain has come in the measure in which its drafts lapse (`lapsesAt`), counting only what cannot be undone.
   * Stellar: the close time of the ledger, in Unix seconds. Solana: the finalized block height. Absent where nothing lapses.
   */
  readonly expiredUpTo?: bigint
  /**
   * The newest block that counts as final, where the chain itself tells (`safe` or `finalized`); `unknown` when it did not. Absent where depth
   * decides, or the receipt.
   */
  readonly finalNumber?: bigint | 'unknown'
  /** When it was made, where its chain tells and goes by that time instead of ours. */
  readonly time?: Date
}

/** How new an answer has to be. */
export interface Freshness {
  /** The answering node has to have reached this height. Default: the highest that any endpoint told of lately. */
  readonly asOf?: bigint
  /** What the answering node remembers has to reach back to this time; otherwise its "none" is unknown. */
  readonly since?: Date
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
  /**
   * Whether it tells of old transactions, which the proof needs that one was not included. Absent where that was not asked, and on
   * chains whose nodes all do.
   */
  readonly keepsHistory?: boolean
}

/** Prices of one unit of what the chain sells: of gas, in wei; of an operation, in stroops; of a compute unit, in micro-lamports. */
export interface PriceComparison {
  /** The most that the draft pays. */
  readonly bid: bigint
  /** What the service would offer now at the same level. */
  readonly market: bigint
  /** What the next block asks at least; absent where blocks have no base fee. */
  readonly baseFee?: bigint
}
