import { hash } from 'node:crypto'

/** The signatures that are kept per key: those of the transactions that one account has under way, a few times over. */
const MAX_KEPT = 1_000

/**
 * Remembers the newest results by payload, and lets calls for the same payload share one. A service that signs differently each time
 * thereby gives the same bytes for the same content, and content whose signature was dropped costs no further call. Failures are not
 * kept. A payload is kept as its hash, because a message can be as long as the body of a request.
 */
export function createMemo<T>(
  make: (payload: Uint8Array) => Promise<T>,
): (payload: Uint8Array) => Promise<T> {
  const kept = new Map<string, Promise<T>>()
  return (payload) => {
    const name = hash('sha256', payload, 'base64')
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
