/** Runs work; until one has succeeded, each runs alone. */
export type FirstAlone = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Lets one request of a client succeed before it sends others. Azure's library learns from its first request who issues tokens, and leaves
 * the body out of it; when another request learns that first, the library sends the first one again without its body.
 */
export function createFirstAlone(): FirstAlone {
  let isLearned = false
  let running: Promise<void> | undefined
  return async (work) => {
    while (!isLearned && running !== undefined) await running
    if (isLearned) return work()
    const made = work()
    running = made
      .then(
        () => {
          isLearned = true
        },
        () => undefined,
      )
      .finally(() => {
        running = undefined
      })
    return made
  }
}
