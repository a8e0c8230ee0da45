import type { Configuration, CustomFetchOptions } from 'openid-client'
import type { Clock } from '../lib/time.ts'
import { type Claims, hasRolesClaim, SignInError } from './claims.ts'
import type { SignInSettings } from './settings.ts'

/** The browser keeps this between the way to the provider and the way back. */
export interface Pending {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** The provider of OpenID Connect: the authorization code flow with PKCE. */
export interface Provider {
  /** Returns where to send the browser. @throws SignInError */
  begin(): Promise<{ readonly url: string; readonly pending: Pending }>
  /**
   * Exchanges the code of a callback, and returns the claims of the verified ID token; if it lacks the claim
   * with the roles, with those of the userinfo endpoint.
   * @throws SignInError
   */
  finish(callback: URL, pending: Pending): Promise<Claims>
}

/** The path of the service to which the provider sends browsers back. */
export const CALLBACK_PATH = '/auth/callback'

/** The limit of each call to the provider, in seconds. A sign-in makes up to four, and the person waits. */
const CALL_SECONDS = 5

/** The most bytes of an answer of the provider. Keys and tokens have a few thousand. */
const MAX_ANSWER_BYTES = 1_048_576

/** The clocks of two machines differ by up to this time, in seconds, and tokens are valid for minutes. */
const CLOCK_SECONDS = 30

/** The discovery document is read again after this time, in ms, because providers move their endpoints. */
const DISCOVERY_MS = 3_600_000

/** The most callbacks at the same time: each makes calls to the provider, and anyone can send one. */
const MAX_CALLBACKS = 20

/** Creates the provider. It is asked for nothing before the first sign-in, so its outage stops no start. */
export function createProvider(settings: SignInSettings, clock: Clock): Provider {
  const redirectUri = settings.publicUrl + CALLBACK_PATH
  let known: { readonly loaded: Promise<Loaded>; readonly until: number } | undefined
  let callbacks = 0

  function discover(): Promise<Loaded> {
    if (known !== undefined && known.until > clock.monotonic()) return known.loaded
    const loaded = load(settings)
    const entry = { loaded, until: clock.monotonic() + DISCOVERY_MS }
    known = entry
    loaded.catch(() => {
      if (known === entry) known = undefined
    })
    return loaded
  }

  async function exchange(callback: URL, { state, nonce, verifier }: Pending): Promise<Claims> {
    const { library, configuration } = await discover()
    const checks = {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    }
    const tokens = await library.authorizationCodeGrant(configuration, callback, checks)
    const claims = tokens.claims()
    if (claims === undefined) throw new SignInError('invalid', 'The provider sent no ID token.')
    const isComplete = hasRolesClaim(claims, settings) || !configuration.serverMetadata().userinfo_endpoint
    if (isComplete) return claims
    const further = await library.fetchUserInfo(configuration, tokens.access_token, claims.sub)
    return { ...further, ...claims }
  }

  return {
    begin: () =>
      translated(async () => {
        const { library, configuration } = await discover()
        const pending = {
          state: library.randomState(),
          nonce: library.randomNonce(),
          verifier: library.randomPKCECodeVerifier(),
        }
        const url = library.buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: settings.scopes.join(' '),
          state: pending.state,
          nonce: pending.nonce,
          code_challenge: await library.calculatePKCECodeChallenge(pending.verifier),
          code_challenge_method: 'S256',
        })
        return { url: url.href, pending }
      }),
    finish: (callback, pending) =>
      translated(async () => {
        if (callbacks >= MAX_CALLBACKS)
          throw new SignInError('unavailable', 'Too many people sign in at the moment. Try again.')
        callbacks += 1
        try {
          return await exchange(callback, pending)
        } finally {
          callbacks -= 1
        }
      }),
  }
}

type Library = typeof import('openid-client')

interface Loaded {
  readonly library: Library
  readonly configuration: Configuration
}

async function load(settings: SignInSettings): Promise<Loaded> {
  const { issuer, clientId, clientSecret } = settings
  // Only a deployment with sign-in loads it.
  const library = await import('openid-client')
  const isLoopback = new URL(issuer).protocol === 'http:'
  const configuration = await library.discovery(
    new URL(issuer),
    clientId,
    { [library.clockTolerance]: CLOCK_SECONDS },
    clientSecret === undefined ? library.None() : authenticationOf(library, clientSecret.reveal()),
    {
      timeout: CALL_SECONDS,
      [library.customFetch]: fetchBounded,
      execute: [
        // The signature of an ID token is verified although it came over TLS.
        library.enableNonRepudiationChecks,
        ...(isLoopback ? [library.allowInsecureRequests] : []),
      ],
    },
  )
  return { library, configuration }
}

/**
 * Sends the secret in the header where the provider takes it there, which is the standard of OpenID Connect.
 */
function authenticationOf(library: Library, secret: string): ReturnType<Library['ClientSecretBasic']> {
  const [basic, post] = [library.ClientSecretBasic(secret), library.ClientSecretPost(secret)]
  return (server, client, body, headers) => {
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server
    return (methods.includes('client_secret_basic') ? basic : post)(server, client, body, headers)
  }
}

/** Fetches an answer completely, up to a limit. The signal of the library ends it after `CALL_SECONDS`. */
async function fetchBounded(url: string, options: CustomFetchOptions): Promise<Response> {
  // The types of the library name the same options otherwise.
  const response = await fetch(url, options as RequestInit)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_ANSWER_BYTES)
      throw new Error(`the answer of the provider has more than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  const { status, headers } = response
  const hasBody = bytes > 0
  const answer = new Response(hasBody ? Buffer.concat(chunks) : null, { status, headers })
  return Object.defineProperty(answer, 'url', { value: response.url })
}

/** Runs work with the provider, and translates what the library throws. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof SignInError ? error : toSignInError(error)
  }
}

/** Errors of the library have codes of their own, and `error` where the provider answered with one. */
interface LibraryError {
  readonly name?: unknown
  readonly code?: unknown
  readonly error?: unknown
}

function toSignInError(fault: unknown): SignInError {
  const { name, code, error } = Object(fault) as LibraryError
  const options = { cause: fault }
  // The provider chooses the text: only what looks like a code of OAuth is repeated to a person.
  const shown = typeof error === 'string' && /^[a-z_]{1,50}$/.test(error) ? ` (${error})` : ''
  if (name === 'AuthorizationResponseError')
    return new SignInError('refused', `The provider did not sign you in${shown}.`, options)
  if (name === 'ResponseBodyError')
    return new SignInError(
      'invalid',
      `The provider refused to finish the sign-in${shown}. Sign in again.`,
      options,
    )
  if (typeof code === 'string' && /^OAUTH_(?!TIMEOUT)/.test(code) && code !== 'OAUTH_ABORT')
    return new SignInError('invalid', 'The answer of the provider is not acceptable. Sign in again.', options)
  return new SignInError(
    'unavailable',
    'The provider does not answer as it should. Try again later.',
    options,
  )
}
