import {
  createRelayerClient,
  type RelayerClient,
  type Schemas,
} from '../../../clients/typescript/src/index.ts'

/** A right to call operations, as the contract names it. */
export type Scope = Schemas['Scope']

/** A person's work with one API key, from the sign-in to the sign-out. */
export interface Session {
  readonly client: RelayerClient
  /** The rights of the key. */
  readonly key: Schemas['CurrentApiKey']
  /** Returns true if the key has the scope. */
  readonly may: (scope: Scope) => boolean
  /** Aborts at the sign-out. */
  readonly ended: AbortSignal
  /** Ends every request and the event stream. */
  readonly end: () => void
}

/**
 * Signs in with the secret of an API key. The secret stays in the memory of the client.
 *
 * @throws RelayerApiError if the service does not accept it, and RelayerConnectionError when the service does not answer
 */
export async function signIn(secret: string): Promise<Session> {
  const client = createRelayerClient({ baseUrl: location.origin, apiKey: secret })
  const key = await client.apiKeys.getCurrent()
  const scopes = new Set(key.scopes)
  const ending = new AbortController()
  return {
    client,
    key,
    may: (scope) => scopes.has(scope),
    ended: ending.signal,
    end: () => ending.abort(),
  }
}
