/** The signatures that are kept per key: those of the transactions that one account has under way, a few times over. */
const MAX_KEPT = 1_000

/**
 * Remembers the newest results by payload, and lets calls for the same payload share one. A service that signs differently each time
 * thereby gives the same bytes for the same content, and content whose signature was dropped costs no further call. Failures are not kept. `nameOf` gives
 * long payloads a short name.
 */
export function createMemo<T>(
  make: (payload: Uint8Array) => Promise<T>,
  nameOf: (payload: Uint8Array) => string = (payload) => Buffer.from(payload).toString('base64'),
): (payload: Uint8Array) => Promise<T> {
  const kept = new Map<string, Promise<T>>()
  return (payload) => {
    const name = nameOf(payload)
    const known = kept.get(name)
    if (known !== undefined) return known
    const made = make(payload)
    kept.set(name, made)
    made.catch(() => kept.delete(name))
    const [oldest] = kept.keys()
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
    return made
  }
}
