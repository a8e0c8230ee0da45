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
