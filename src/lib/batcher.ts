import { setImmediate as endOfTurn } from 'node:timers/promises'

interface BatcherOptions<Item, Result> {
  /** Items with the same key may share a run; runs of one key never overlap. */
  readonly keyOf: (item: Item) => string
  readonly maxItems: number
  /**
   * Collects for the rest of the turn of the event loop before the first run. For work that blocks the loop, as queries of
   * the embedded database do: it would be done before the next request is even read, and nothing would ever collect.
   */
  readonly collectsTurn?: boolean
  /** Results in the order of the items. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Collects what arrives while a run is under way into the next one ("group commit"). A lone item waits for nothing; a
 * crowd shares the price of a commit. When a run fails, all of its items fail.
 */
export function createBatcher<Item, Result>(
  options: BatcherOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  const queues = new Map<string, Waiting<Item, Result>[]>()

  async function drain(key: string, queue: Waiting<Item, Result>[]) {
    if (options.collectsTurn) await endOfTurn()
    while (queue.length > 0) await runBatch(options, queue.splice(0, options.maxItems))
    queues.delete(key)
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const key = options.keyOf(item)
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

async function runBatch<Item, Result>(
  { run }: BatcherOptions<Item, Result>,
  batch: readonly Waiting<Item, Result>[],
): Promise<void> {
  try {
    const results = await run(batch.map((waiting) => waiting.item))
    for (const [index, waiting] of batch.entries()) {
      const result = results[index]
      if (result === undefined) waiting.reject(new Error('a batch gave fewer results than it had items'))
      else waiting.resolve(result)
    }
  } catch (error) {
    for (const waiting of batch) waiting.reject(error)
  }
}
