/** Does the work for each item, with at most so many at a time, until the signal aborts. A failure of one ends the others. */
export async function forEachAtMost<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const waiting = [...items]
  const next = async () => {
    for (let item = waiting.shift(); item !== undefined && !signal.aborted; item = waiting.shift())
      await work(item)
  }
  await Promise.all(Array.from({ length: limit }, next))
}
