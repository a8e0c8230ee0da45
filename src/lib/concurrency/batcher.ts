import { setImmediate as endOfTurn } from 'node:timers/promises'

interface BatcherOptions<Item, Result, Key> {
  /** Items with equal keys may share a run. */
  readonly keyOf: (item: Item) => Key
  /** The most items of one run. Default: no limit. */
  readonly maxItems?: number
  /**
   * Collects for the rest of the turn of the event loop before the first run. Work that blocks the event
   * loop, such as queries of the embedded database, would otherwise end before the next request is read, and
   * no batch would form.
   */
  readonly collectsTurn?: boolean
  /**
   * Lets runs of one key overlap: an item that arrives during a run starts another batch. Default: it waits
   * for the end of the run, which is right for work that must not overlap, and for commits, which get cheaper
   * with more items.
   */
  readonly overlaps?: boolean
  /** Returns the results in the order of the items. */
  readonly run: (items: readonly Item[], key: Key) => Promise<readonly Result[]>
}

interface Queued<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Joins items that arrive close together into one run, for independent callers. When a run fails, all of its
 * items fail.
 */
export function createBatcher<Item, Result, Key = string>(
  options: BatcherOptions<Item, Result, Key>,
): (item: Item) => Promise<Result> {
  const { keyOf, maxItems = Number.POSITIVE_INFINITY, collectsTurn = false, overlaps = false } = options
  const queues = new Map<Key, Queued<Item, Result>[]>()

  async function drain(key: Key, queue: Queued<Item, Result>[]) {
    if (collectsTurn) await endOfTurn()
    if (overlaps) queues.delete(key)
    while (queue.length > 0) await runBatch(options, key, queue.splice(0, maxItems))
    if (!overlaps) queues.delete(key)
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const key = keyOf(item)
      const queue = queues.get(key)
      if (queue) {
        queue.push({ item, resolve, reject })
        return
      }
      const fresh = [{ item, resolve, reject }]
      queues.set(key, fresh)
      void drain(key, fresh)
    })
}

async function runBatch<Item, Result, Key>(
  { run }: BatcherOptions<Item, Result, Key>,
  key: Key,
  batch: readonly Queued<Item, Result>[],
): Promise<void> {
  try {
    const results = await run(
      batch.map(({ item }) => item),
      key,
    )
    for (const [index, { resolve, reject }] of batch.entries()) {
      const result = results[index]
      if (result === undefined) reject(new Error('a batch returned fewer results than it had items'))
      else resolve(result)
    }
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}
