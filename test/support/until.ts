/** How long a condition may take, in ms, unless told: far more than any needs, so that only a fault reaches it. */
const TIMEOUT_MS = 20_000

/** How often it is looked at, in ms. */
const LOOK_EVERY_MS = 20

/** Waits for what has to become true, and says what it saw last when it does not. */
export async function until<T>(
  look: () => Promise<T>,
  wanted: (seen: T) => boolean,
  { timeoutMs = TIMEOUT_MS } = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const seen = await look()
    if (wanted(seen)) return seen
    if (Date.now() > deadline)
      throw new Error(`did not come true within ${timeoutMs} ms; last seen: ${show(seen)}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

function show(value: unknown): string {
  return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? `${inner}n` : inner))
}
