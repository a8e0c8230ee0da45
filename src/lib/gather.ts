/**
 * Joins what is asked under the same key within one turn of the event loop into one run, so that callers who know nothing
 * of each other share an HTTP request. `run` gives results in the order of the items and never rejects.
 */
export function createGatherer<Key, Item, Result>(
  run: (items: readonly Item[], key: Key) => Promise<readonly Result[]>,
): (items: readonly Item[], key: Key) => Promise<Result[]> {
  const turns = new Map<Key, { readonly items: Item[]; readonly results: Promise<readonly Result[]> }>()

  function open(key: Key) {
    const items: Item[] = []
    const results = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      turns.delete(key)
      return run(items, key)
    })
    const turn = { items, results }
    turns.set(key, turn)
    return turn
  }

  return async (items, key) => {
    const turn = turns.get(key) ?? open(key)
    const start = turn.items.length
    turn.items.push(...items)
    return (await turn.results).slice(start, start + items.length)
  }
}
