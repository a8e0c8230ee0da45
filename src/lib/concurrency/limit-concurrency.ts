/**
 * Creates a function that runs tasks, at most `limit` at the same time. Further tasks wait in the order of
 * their arrival.
 */
export function limitConcurrency(limit: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0

  async function enter(): Promise<void> {
    if (running < limit) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }

  /**
   * The place goes to the next task directly, so that a task which arrives in the meantime cannot take it.
   */
  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }

  return async (task) => {
    await enter()
    try {
      return await task()
    } finally {
      leave()
    }
  }
}
