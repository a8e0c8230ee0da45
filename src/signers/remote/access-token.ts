/** A token that opens a service for some time. */
export interface AccessToken {
  readonly text: string
  /** Counted from its arrival, in ms. */
  readonly lifeMs: number
}

/** The present token of a service. */
export interface AccessTokens {
  /** Returns the token, a new one when there is none or its life is nearly over. Calls share one login. */
  present(): Promise<string>
  /** Forgets a token that the service did not accept. */
  drop(token: string): Promise<void>
}

/** A token is replaced when this share of its life is over. */
const USED_SHARE = 0.8

interface Kept {
  readonly text: string
  /** In ms of the monotonic clock of the process. */
  readonly endsAt: number
}

/** Keeps the token that `logIn` returns. */
export function createAccessTokens(logIn: () => Promise<AccessToken>): AccessTokens {
  let kept: Promise<Kept> | undefined

  async function make(): Promise<Kept> {
    const { text, lifeMs } = await logIn()
    return { text, endsAt: performance.now() + lifeMs * USED_SHARE }
  }

  async function present(): Promise<string> {
    const known = kept
    const token = await known
    if (token !== undefined && performance.now() < token.endsAt) return token.text
    // Several calls can find the same old token; the first of them replaces it.
    if (kept === known) kept = replaced()
    return (await kept)?.text ?? present()
  }

  function replaced(): Promise<Kept> {
    const made = make()
    made.catch(() => {
      if (kept === made) kept = undefined
    })
    return made
  }

  return {
    present,
    drop: async (refused) => {
      const known = kept
      const token = await known?.catch(() => undefined)
      if (kept === known && token?.text === refused) kept = undefined
    },
  }
}
