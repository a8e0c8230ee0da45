import {
  createRelayerClient,
  RelayerApiError,
  type RelayerClient,
  type Schemas,
} from '../../../clients/typescript/src/index.ts'

/** A right to call operations, as the contract names it. */
export type Scope = Schemas['Scope']

/** A person's work with one API key, or with the provider's sign-in, until the sign-out. */
export interface Session {
  readonly client: RelayerClient
  /** The rights of the key or person. */
  readonly key: Schemas['CurrentApiKey']
  /** Returns true if the key has the scope. */
  readonly may: (scope: Scope) => boolean
  /** Aborts at the sign-out. */
  readonly ended: AbortSignal
  /** Ends every request and the event stream, and the session at the service if there is one. */
  readonly end: () => Promise<void>
}

/**
 * Signs in with the secret of an API key. The secret stays in the memory of the client.
 *
 * @throws RelayerApiError if the service does not accept it, and RelayerConnectionError when the service does
 * not answer
 */
export async function signIn(secret: string): Promise<Session> {
  return beginWith(createRelayerClient({ baseUrl: location.origin, apiKey: secret }))
}

/**
 * Continues the session of the browser's cookie, which no script can read; undefined if there is none. Calls
 * `onLost` when the service no longer accepts it.
 */
export async function resumeSession(onLost: () => void): Promise<Session | undefined> {
  const asPerson = async (request: Request) => {
    const response = await fetch(request)
    if (response.status === 401 && (await isUnauthorized(response.clone()))) onLost()
    return response
  }
  try {
    return await beginWith(createRelayerClient({ baseUrl: location.origin, fetch: asPerson }))
  } catch (error) {
    if (error instanceof RelayerApiError && error.status === 401) return undefined
    throw error
  }
}

/** A few operations also answer 401 when only a scope is missing. */
async function isUnauthorized(response: Response): Promise<boolean> {
  const { code } = Object(await response.json().catch(() => undefined)) as { readonly code?: unknown }
  return code === 'unauthorized'
}

async function beginWith(client: RelayerClient): Promise<Session> {
  const key = await client.apiKeys.getCurrent()
  const scopes = new Set(key.scopes)
  const ending = new AbortController()
  return {
    client,
    key,
    may: (scope) => scopes.has(scope),
    ended: ending.signal,
    end: async () => {
      ending.abort()
      if (key.session !== undefined) await client.sessions.endCurrent()
    },
  }
}

/** The provider with which people can sign in, as the service wrote it into the page. */
export interface Provider {
  readonly name: string
  readonly url: string
}

/** Reads the provider; undefined if there is none. */
export function readProvider(): Provider | undefined {
  const tag = document.querySelector<HTMLMetaElement>('meta[name="sign-in"]')
  const url = tag?.dataset.url
  return tag && url ? { name: tag.content, url } : undefined
}
