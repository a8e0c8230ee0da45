import type { Logger } from 'pino'
import type { Clock } from '../lib/time.ts'
import { readIdentity, SignInError } from './claims.ts'
import { CALLBACK_PATH, createProvider, type Pending } from './provider.ts'
import type { Sessions, SignInOrigin } from './sessions.ts'
import type { SignInSettings } from './settings.ts'

/** A refusal, as a page shows it. */
interface Refusal {
  readonly kind: SignInError['kind']
  readonly message: string
}

/**
 * A sign-in in two steps, between which the browser is at the provider. Neither of them throws for a
 * provider.
 */
export interface SignIn {
  /** The name of the provider on the button. */
  readonly name: string
  /** The origin of the service for browsers. */
  readonly publicUrl: string
  /** The path to which the provider sends browsers back. */
  readonly callbackPath: string
  /** The longest life of a session, in seconds. */
  readonly sessionSeconds: number
  /** Returns the url of the provider, and a text that the browser must bring back. */
  begin(): Promise<{ readonly url: string; readonly pending: string } | Refusal>
  /** Begins a session for the query of a callback and that text, and returns its secret. */
  finish(callback: Callback): Promise<{ readonly secret: string } | Refusal>
}

/** The request with which the browser comes back. */
interface Callback extends SignInOrigin {
  readonly querystring: string
  readonly pending: string | undefined
}

interface SignInDeps {
  readonly settings: SignInSettings
  readonly sessions: Sessions
  readonly clock: Clock
  readonly log: Logger
}

/** Creates the sign-in of a deployment. */
export function createSignIn({ settings, sessions, clock, log }: SignInDeps): SignIn {
  const provider = createProvider(settings, clock)

  /** Logs why: the page tells the person only what concerns them. */
  function refuse(error: unknown): Refusal {
    if (!(error instanceof SignInError)) throw error
    const { kind, message, cause } = error
    log.warn({ kind, detail: message, cause: reasonOf(cause) }, 'sign-in refused')
    return { kind, message }
  }

  return {
    name: settings.name,
    publicUrl: settings.publicUrl,
    callbackPath: CALLBACK_PATH,
    sessionSeconds: Math.floor(settings.sessionMs / 1_000),
    begin: () =>
      provider.begin().then(({ url, pending }) => ({ url, pending: encodePending(pending) }), refuse),
    finish: async ({ querystring, pending: text, ...origin }) => {
      try {
        const pending = text === undefined ? undefined : decodePending(text)
        if (pending === undefined)
          throw new SignInError(
            'invalid',
            'This browser has no sign-in under way, or it took more than ten minutes. Sign in again.',
          )
        // The url is never that of the request, whose host a caller can choose.
        const callback = new URL(CALLBACK_PATH, settings.publicUrl)
        callback.search = querystring
        const identity = readIdentity(await provider.finish(callback, pending), settings)
        return await sessions.begin(identity, origin)
      } catch (error) {
        return refuse(error)
      }
    },
  }
}

/** The parts of a pending sign-in, joined by what none of them contains. */
function encodePending({ state, nonce, verifier }: Pending): string {
  return [state, nonce, verifier].join('.')
}

function decodePending(text: string): Pending | undefined {
  const [, state, nonce, verifier] =
    /^([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/.exec(text) ?? []
  return state && nonce && verifier ? { state, nonce, verifier } : undefined
}

/** The message and the code of each cause. The rest of such an error can hold tokens. */
function reasonOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined
  const { code } = cause as { readonly code?: unknown }
  const own = typeof code === 'string' ? `${cause.message} (${code})` : cause.message
  const inner = reasonOf(cause.cause)
  return inner === undefined ? own : `${own}: ${inner}`
}
