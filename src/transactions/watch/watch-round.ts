import type { Head } from '../../chains/answer.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { OperatorDecision } from '../store/decisions-store.ts'

/**
 * The memory of one watcher about its network, with times of the monotonic clock. Losing it costs time, never
 * correctness.
 */
export interface WatchMemory {
  /**
   * The highest block and the time when it was seen. A node behind it is not believed when it says "no" (I6).
   */
  highest: { readonly number: bigint; readonly at: number }
  /** The hash of the block for which everything was settled; until the next block there is nothing to do. */
  settledAt: string | undefined
  /** The time of the next check of final transactions, in ms. */
  recheckAt: number
  /** The newest time of a final transaction that the last check covered. */
  checkedUntil: Date | undefined
  /**
   * The earliest time of a transaction that became final since that check, in ms of the time of day, which
   * may have stepped back; infinite when none did.
   */
  finalSince: number
  /** The block and the time since which a transaction has a used nonce and no receipt, by id. */
  readonly missingSince: Map<string, { readonly block: bigint; readonly at: number }>
  /** The time since which a transaction waits for a proof, by id. */
  readonly doubtSince: Map<string, number>
  /**
   * Transactions about whose result the endpoints disagree, by id: since when, and whether it was reported.
   */
  readonly disputed: Map<string, Dispute>
}

/** The endpoints do not agree about the result of a transaction. */
export interface Dispute {
  /** In ms of the monotonic clock. */
  readonly since: number
  readonly told: boolean
}

/** Creates the memory of a watcher that has seen nothing yet. */
export function createWatchMemory(): WatchMemory {
  return {
    highest: { number: 0n, at: 0 },
    settledAt: undefined,
    recheckAt: 0,
    checkedUntil: undefined,
    finalSince: Number.POSITIVE_INFINITY,
    missingSince: new Map(),
    doubtSince: new Map(),
    disputed: new Map(),
  }
}

/** One round of watching a network: its inputs, and the results so far. */
export interface WatchRound {
  readonly context: TransactionsContext
  readonly chain: Chain
  readonly head: Head
  readonly confirmations: bigint
  readonly relayers: ReadonlyMap<string, Relayer>
  readonly memory: WatchMemory
  /** Decisions about undecided transactions, by id. */
  readonly decisions: ReadonlyMap<string, OperatorDecision>
  /** Ids of the transactions whose nonce the chain has passed. */
  passed: ReadonlySet<string>
  /**
   * True when an answer is missing or a write came too late, so that the next round looks at the same block
   * again.
   */
  open: boolean
}

/** Returns true if the block is final by the rule of the network; unknown counts as no (I6). */
export function isFinalBlock(
  { head, confirmations }: Pick<WatchRound, 'head' | 'confirmations'>,
  block: bigint,
): boolean {
  if (head.finalNumber === undefined) return head.number >= block + confirmations
  return head.finalNumber !== 'unknown' && block <= head.finalNumber
}
