import type { ChainResult } from './attempt.ts'
import type { ScShown } from './stellar/contract-spec/show-value.ts'

/**
 * A request that cannot be served. It is data and no exception, because API callers and workers react to it
 * differently.
 */
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
    | 'payment_required'
    | 'policy_violation'
    | 'not_supported'
  /** A sentence for a person, with the field and the number that would be accepted. */
  readonly detail: string
  /**
   * Another endpoint did not answer. It may know better, so this refusal must not end anything that was
   * accepted (I6).
   */
  readonly unanswered?: true
}

/**
 * The answer to a question that may be refused, or that no node could answer. `unknown` never means no (I6).
 */
export type Answer<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'unknown'; readonly detail: string }

/**
 * The answer of a node to signed bytes. `accepted`: the node has the bytes; `known` says that it already had
 * them, and `queuedInPool` that no node would include them although their nonce is next · `nonce_used`: the
 * chain is past this nonce, so one of the attempts or another transaction is included, and the receipts show
 * which · `refused`: the node will not accept these bytes · `too_cheap`, `too_dear`: no endpoint accepts them
 * at this price; at another price one may · `gas_limit`: the node may accept them with another gas limit ·
 * `later`: the node cannot accept them now (predecessor missing, pool full, funds short), so the service
 * keeps them · `unclear`: the node refuses them in unknown wording, so the reason may be the content or the
 * node, or in known wording (`known`) that does not say for how long · `unknown`: no answer · `withheld`:
 * they are private, and there is no private endpoint to send them to. `minimum` is the whole fee that the
 * node would accept, in the smallest unit. `unanswered`: another endpoint received the bytes and did not
 * answer, so it may have accepted them.
 */
export type BroadcastResult =
  | { readonly kind: 'accepted'; readonly known?: true; readonly queuedInPool?: true }
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
  | { readonly kind: 'unclear'; readonly detail: string; readonly known?: true; readonly unanswered?: true }
  | { readonly kind: 'unknown'; readonly detail: string }
  | { readonly kind: 'withheld'; readonly detail: string }

/** The chain's proof of inclusion. */
export interface Receipt {
  readonly hash: string
  readonly blockNumber: bigint
  readonly blockHash: string
  /** The time of the block, on chains whose receipts tell it. */
  readonly blockTime?: Date | undefined
  readonly success: boolean
  /** The inclusion is irreversible. Only chains whose receipts include finality set it. */
  readonly final?: boolean
  /** The reason of a failed execution, on chains whose receipts include it. */
  readonly failure?: string
  /**
   * `no`: the block contains it without having executed it, so nothing happened and nothing was charged ·
   * `unknown`: its error does not show it. Absent if blocks contain only what they execute.
   */
  readonly executed?: 'no' | 'unknown'
  /** The transaction emitted no event, on chains whose receipts show it. */
  readonly emittedNothing?: true
  readonly result?: ChainResult
}

/** `none`: a node that is not behind knows no such receipt. */
export type ReceiptAnswer =
  | { readonly kind: 'included'; readonly receipt: Receipt }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

/**
 * The outcome of one transaction, proved with the answers of every endpoint. `absent`: the chain up to `asOf`
 * provably includes none of its attempts, and `usedBy` is the hash of the transaction that used their nonce,
 * where it is known; the silence of a node that may have pruned its history proves nothing. `unknown` with
 * `unprovable`: no endpoint has the history any more, so asking again cannot help, and an operator must
 * decide.
 */
export type InclusionProof =
  | { readonly kind: 'included'; readonly number: number; readonly receipt: Receipt }
  | { readonly kind: 'absent'; readonly usedBy?: string | undefined }
  | { readonly kind: 'unknown'; readonly detail: string; readonly unprovable?: true }

/**
 * The answer of an endpoint that did not give any: a reply, an answer and a result of a broadcast at once.
 */
export const NO_REPLY = { kind: 'unknown', detail: 'no reply' } as const

export interface Head {
  readonly number: bigint
  readonly hash: string
  /**
   * The point up to which drafts have permanently expired (`expiresAt`). Stellar: the close time of the
   * ledger, in Unix seconds; drafts that end in this second have not. Solana: the finalized block height.
   * Absent on chains whose drafts do not expire.
   */
  readonly expiredUpTo?: bigint
  /**
   * The newest block that counts as final on networks that announce it (`safe` or `finalized`); `unknown`
   * when no node announced it. It is absent if depth or the receipt decides.
   */
  readonly finalNumber?: bigint | 'unknown'
  /** The time of the block, if the head includes it. On Stellar it replaces our clock. */
  readonly time?: Date
}

/** The freshness that an answer must have. */
export interface Freshness {
  /**
   * The node that answers must have reached this height. Default: the highest height that an endpoint
   * reported lately.
   */
  readonly asOf?: bigint
  /** The history of the node that answers must reach back to this time; otherwise its "none" is unknown. */
  readonly since?: Date
}

/** A subscription to new blocks. */
export interface HeadFeed {
  /** Announcements of blocks are arriving. */
  readonly live: boolean
  stop(): void
}

/**
 * The state of one endpoint. It names only the host of the url, because providers put their keys into the
 * rest.
 */
export interface EndpointReport {
  readonly host: string
  /** The url without the part in which providers put their keys. */
  readonly maskedUrl: string
  readonly healthy: boolean
  /** It has not been used yet, so its health is an assumption. */
  readonly neverAsked?: true
  /** The height of the newest block that it reported. */
  readonly head?: bigint
  /** The service does not use it before this time. */
  readonly restsUntil?: Date
  readonly lastError?: string
  /**
   * It keeps old transactions, which a proof of absence needs. Absent until it is checked, and on chains
   * whose nodes all keep them.
   */
  readonly keepsHistory?: boolean
}

/**
 * Prices of one unit that the chain sells: gas in wei, an operation in stroops, a compute unit in
 * micro-lamports.
 */
export interface PriceComparison {
  /** The highest price that the draft pays. */
  readonly bid: bigint
  /** The price that the service would pay now at the same level. */
  readonly market: bigint
  /** The lowest price of the next block; absent on chains without a base fee. */
  readonly baseFee?: bigint
  /**
   * The newest block, compared with the draft; absent if no fee is raised, and if no node returned the block.
   */
  readonly newest?: ComparedBlock | undefined
  /**
   * The highest price to which the service currently raises the draft automatically; absent if no fee is
   * raised.
   */
  readonly limit?: bigint
  /**
   * The price at which the fee of the draft reaches the most that one transaction may cost; absent if there
   * is none.
   */
  readonly feeCap?: bigint
  /** The lowest raise that nodes accept would be above the limit. */
  readonly atLimit?: true
}

/** The newest block, and its reason to leave a draft out that is not in it. */
export interface ComparedBlock {
  readonly number: bigint
  /** The time that the block states; absent if no node returned it. */
  readonly time?: Date | undefined
  /** The block came after the draft was priced, as far as the draft shows. */
  readonly isNew: boolean
  readonly leftOut: LeftOut
}

/**
 * Why a block may have left a draft out, judged only by price. `room`: none, because the draft met the base fee and there was room for its
 * gas · `outbid`: it is full, and some of it paid more · `full`: it is full, although nearly everything in it paid less · `base_fee`: its
 * base fee was above the bid.
 */
export type LeftOut = 'room' | 'outbid' | 'full' | 'base_fee'

/** A log of a contract on EVM, as a receipt has it. */
export interface EvmLog {
  /** The position of the log in its block. */
  readonly logIndex: bigint
  readonly address: string
  /** At most four words; the first one names the event. */
  readonly topics: readonly string[]
  readonly data: string
}

/** An event of a contract on Stellar, or of the network itself. */
export interface StellarEvent {
  readonly type: 'contract' | 'system'
  /** Absent for an event of the network. */
  readonly contractId?: string | undefined
  readonly topics: readonly ScShown[]
  readonly data: ScShown
}

/** What a transaction emitted, by the type of its network. */
export type Emitted =
  | { readonly type: 'evm'; readonly logs: readonly EvmLog[] }
  | {
      readonly type: 'stellar'
      readonly returnValue?: ScShown | undefined
      readonly events: readonly StellarEvent[]
    }
  /** `logs` is absent where the node keeps none. */
  | { readonly type: 'solana'; readonly logs?: readonly string[] | undefined }

/** An inclusion, and what the transaction emitted in it, as a node tells them. */
export interface EmittedIn {
  /** The hash of the block, as receipts have it. */
  readonly blockHash: string
  readonly success: boolean
  readonly emitted: Emitted
  /** There is more than an answer may have. */
  readonly truncated: boolean
}

/** The most logs, events or lines of one answer. The contract names this number. */
const MAX_ITEMS = 500

/**
 * The most characters of them together. The contract names this number, and what is left out costs a caller a
 * node of its own.
 */
const MAX_CHARACTERS = 262_144

/** Returns the first items that an answer may have. Pure. */
export function takeWithin<T>(
  items: readonly T[],
  charactersOf: (item: T) => number,
): { readonly taken: readonly T[]; readonly truncated: boolean } {
  let left = MAX_CHARACTERS
  const end = items.findIndex((item, index) => {
    left -= charactersOf(item)
    return index >= MAX_ITEMS || left < 0
  })
  return end === -1 ? { taken: items, truncated: false } : { taken: items.slice(0, end), truncated: true }
}
