interface Limits {
  /** The most items at a time. */
  readonly limit: number
  /** Begins no item after it aborts. */
  readonly signal: AbortSignal
}

/** Does the work for each item, with a few at a time. A failure of one ends the others. */
export async function forEachAtMost<Item>(
  items: readonly Item[],
  { limit, signal }: Limits,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  const next = async () => {
    for (let item = waiting.shift(); item !== undefined && !signal.aborted; item = waiting.shift())
      await work(item)
  }
  await Promise.all(Array.from({ length: limit }, next))
}
