/**
 * A try fails when another writer changes the record between its read and its write; more than some in a row
 * are a fault of the service.
 */
const MAX_TRIES = 20

/**
 * Repeats work that returns undefined because another writer changed the transaction between its read and its
 * write.
 * @param doing what happens to it, e.g. `replaced`
 * @throws Error if every try fails
 */
export async function retryOnConflict<T>(
  { id, doing }: { readonly id: string; readonly doing: string },
  work: () => Promise<T | undefined>,
): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const result = await work()
    if (result !== undefined) return result
  }
  throw new Error(`transaction ${id} changed ${MAX_TRIES} times while it was being ${doing}`)
}
