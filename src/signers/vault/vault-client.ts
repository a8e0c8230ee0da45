import type { HttpClient, PostAnswer } from '../../lib/http/http-client.ts'
import type { Secret } from '../../security/secret.ts'
import { type AccessToken, createAccessTokens } from '../remote/access-token.ts'
import { answered } from '../remote/answered.ts'
import { type JsonObject, objectIn, readJsonObject, textIn } from '../remote/json-object.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import { dataOf, failureOf } from './answers.ts'

/** The way into a Vault, with the names of existing configuration files. */
export interface VaultConfig {
  /** The url of the server, e.g. `https://vault.example.com:8200`. */
  readonly address: string
  /** A namespace of Vault Enterprise or OpenBao. */
  readonly namespace?: string
  /** The login by AppRole. */
  readonly roleId: Secret
  readonly secretId: Secret
}

/** A request below `/v1/`. */
interface VaultRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
}

/** Asks a Vault, logged in. */
export type VaultClient = (request: VaultRequest) => Promise<JsonObject>

interface VaultClientDeps {
  readonly http: HttpClient
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
}

/** Creates a client that logs in by AppRole when it has no token, and again when Vault no longer accepts the one it has. */
export function createVaultClient(config: VaultConfig, { http, timeoutMs }: VaultClientDeps): VaultClient {
  const base = config.address.replace(/\/+$/, '')

  function send({ method, path, body }: VaultRequest, headers: Record<string, string>): Promise<PostAnswer> {
    return answered(
      http.post({
        url: `${base}/v1/${path}`,
        method,
        headers: {
          ...headers,
          // Vault refuses requests that a forged page could send.
          'x-vault-request': 'true',
          ...(config.namespace && { 'x-vault-namespace': config.namespace }),
          ...(body && { 'content-type': 'application/json' }),
        },
        body: body ? JSON.stringify(body) : '',
        timeoutMs,
      }),
    )
  }

  async function logIn(): Promise<AccessToken> {
    const body = { role_id: config.roleId.reveal(), secret_id: config.secretId.reveal() }
    const answer = await send({ method: 'POST', path: 'auth/approle/login', body }, {})
    if (answer.status !== 200) throw failureOf(answer, 'cannot be asked: the login by AppRole failed')
    const auth = objectIn(readJsonObject(answer.body), 'auth')
    const text = textIn(auth, 'client_token')
    if (text === '') throw new RemoteFault('unavailable', 'gave no token at the login')
    const { lease_duration: seconds } = auth
    // A duration of 0 is a token that never ends.
    return {
      text,
      lifeMs: typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY,
    }
  }

  const tokens = createAccessTokens(logIn)
  const sendWith = (token: string, request: VaultRequest) => send(request, { 'x-vault-token': token })

  return async (request) => {
    const token = await tokens.present()
    const first = await sendWith(token, request)
    if (first.status !== 403) return dataOf(first)
    // The token may have been revoked, and the policy may have changed: a new token tells them apart.
    await tokens.drop(token)
    return dataOf(await sendWith(await tokens.present(), request))
  }
}
