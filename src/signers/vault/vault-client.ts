import type { HttpClient, PostAnswer } from '../../lib/http/http-client.ts'
import type { Secret } from '../../security/secret.ts'
import { answered } from '../remote/answered.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import { dataOf, failureOf, readJson } from './answers.ts'

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
export type VaultClient = (request: VaultRequest) => Promise<Readonly<Record<string, unknown>>>

interface VaultClientDeps {
  readonly http: HttpClient
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
}

interface Token {
  readonly text: string
  /** In ms of the monotonic clock of the process. */
  readonly endsAt: number
}

/** A token is renewed by a new login when this share of its life is over. */
const USED_SHARE = 0.8

/** Creates a client that logs in by AppRole when it has no token, and again when Vault no longer accepts the one it has. */
export function createVaultClient(config: VaultConfig, { http, timeoutMs }: VaultClientDeps): VaultClient {
  const base = config.address.replace(/\/+$/, '')
  let token: Promise<Token> | undefined

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

  async function logIn(): Promise<Token> {
    const body = { role_id: config.roleId.reveal(), secret_id: config.secretId.reveal() }
    const answer = await send({ method: 'POST', path: 'auth/approle/login', body }, {})
    if (answer.status !== 200) throw failureOf(answer, 'cannot be asked: the login by AppRole failed')
    const { client_token: text, lease_duration: seconds } = readJson(answer).auth ?? {}
    if (typeof text !== 'string') throw new RemoteFault('unavailable', 'gave no token at the login')
    // A duration of 0 is a token that never ends.
    const lifeMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY
    return { text, endsAt: performance.now() + lifeMs * USED_SHARE }
  }

  async function present(): Promise<Token> {
    const known = await token
    if (known !== undefined && performance.now() < known.endsAt) return known
    const made = logIn()
    token = made
    made.catch(() => {
      if (token === made) token = undefined
    })
    return made
  }

  return async (request) => {
    const used = await present()
    const first = await send(request, { 'x-vault-token': used.text })
    if (first.status !== 403) return dataOf(first)
    // The token may have been revoked, and the policy may have changed: a new token tells them apart.
    if ((await token) === used) token = undefined
    return dataOf(await send(request, { 'x-vault-token': (await present()).text }))
  }
}
