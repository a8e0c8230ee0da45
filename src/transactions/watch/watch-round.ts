import type { Head } from '../../chains/answer.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { OperatorDecision } from '../store/decisions-store.ts'

/** What one watcher remembers of its network. Losing it costs time, never correctness. */
export interface WatchMemory {
  /** The highest block seen, and when; a node that is behind it is not believed when it says "no". */
  highest: { readonly number: bigint; readonly at: number }
  /** The block after which nothing was left open; until the next block there is nothing to ask. */
  settledAt: string | undefined
  /** When the blocks of final transactions are looked at again, in ms since the epoch. */
  recheckAt: number
  /** Since which block, and which time, a transaction looks as if somebody else had used its nonce. */
  readonly missingSince: Map<string, { readonly block: bigint; readonly at: number }>
}

export function createWatchMemory(): WatchMemory {
  return { highest: { number: 0n, at: 0 }, settledAt: undefined, recheckAt: 0, missingSince: new Map() }
}

/** One look at a network: what is asked with, and what has been seen so far. */
export interface WatchRound {
  readonly context: TransactionsContext
  readonly chain: Chain
  readonly head: Head
  readonly confirmations: bigint
  readonly relayers: ReadonlyMap<string, Relayer>
  readonly memory: WatchMemory
  /** Of transactions whose followUp nobody can prove, by id. */
  readonly decisions: ReadonlyMap<string, OperatorDecision>
  /** Ids of those whose nonce the chain has left behind. */
  passed: ReadonlySet<string>
  /** Set when an answer is missing or a write came too late: the same block has to be looked at again. */
  open: boolean
}

/** Whether nothing undoes this block any more, by the network's own measure; unknown counts as no (I6). */
export function isFinalBlock(
  { head, confirmations }: Pick<WatchRound, 'head' | 'confirmations'>,
  block: bigint,
): boolean {
  if (head.finalNumber === undefined) return head.number >= block + confirmations
  return head.finalNumber !== 'unknown' && block <= head.finalNumber
}
