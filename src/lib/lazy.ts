/** Creates a function that computes its value at the first call, and returns the same one afterwards. A computation that throws is tried again. */
export function lazy<T extends object>(compute: () => T): () => T {
  let value: T | undefined
  return () => {
    value ??= compute()
    return value
  }
}
