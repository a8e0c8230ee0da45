/** The secret is kept for this tab alone, and only when the person asks for it. The browser forgets it with the tab. */
const NAME = 'relayer-console-secret'

/** Returns the secret that is kept for this tab; undefined if there is none, or when the browser keeps nothing. */
export function readKeptSecret(): string | undefined {
  return unlessForbidden(() => sessionStorage.getItem(NAME)) ?? undefined
}

/** Keeps the secret until the tab is closed. */
export function keepSecret(secret: string): void {
  unlessForbidden(() => sessionStorage.setItem(NAME, secret))
}

/** Removes the secret from the tab. */
export function forgetSecret(): void {
  unlessForbidden(() => sessionStorage.removeItem(NAME))
}

/** A browser that blocks storage throws; the secret then stays in memory alone, which is the safer choice anyway. */
function unlessForbidden<T>(access: () => T): T | undefined {
  try {
    return access()
  } catch {
    return undefined
  }
}
