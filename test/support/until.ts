/** A condition may take this long by default, in ms: far more than any needs, so that only a fault reaches it. */
const TIMEOUT_MS = 45_000

/** The condition is checked once in this time, in ms. */
const LOOK_EVERY_MS = 20

/** Waits for a condition to become true, and reports the last value when it does not. */
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

/** A longer text of the last value helps no one. */
const MOST_SHOWN = 2_000

function show(value: unknown): string {
  const text = String(
    JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? `${inner}n` : inner)),
  )
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)} …` : text
}
