interface Interruption {
  /** Rejects with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Ends the sleep early. */
  readonly until?: Promise<void>
}

/** Waits for `ms`. */
export async function sleep(ms: number, { signal, until }: Interruption = {}): Promise<void> {
  signal?.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const abort = () => reject(signal?.reason)
  const timer = setTimeout(resolve, ms)
  signal?.addEventListener('abort', abort)
  try {
    await Promise.race(until === undefined ? [promise] : [promise, until])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
