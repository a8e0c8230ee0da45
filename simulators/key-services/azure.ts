import { createHash, randomBytes } from 'node:crypto'
import { type HeldSecp256k1, holdSecp256k1 } from './held-keys.ts'
import {
  type HttpService,
  type ServiceAnswer,
  type ServiceRequest,
  startHttpService,
} from './http-service.ts'

/** What the server knows. */
export const TENANT = '11111111-2222-3333-4444-555555555555'
export const CLIENT_ID = '99999999-8888-7777-6666-555555555555'
export const CLIENT_SECRET = 'secret-of-the-relayer'
export const FEDERATED_TOKEN = 'token-of-the-cluster'
export const IDENTITY_HEADER = 'header-of-the-machine'
export const VAULT_HOST = 'payments.vault.azure.net'
const RESOURCE = 'https://vault.azure.net'
const API_VERSION = /^(7\.\d|20\d\d-\d\d-\d\d)$/

/** The parts of Azure that the service asks, by Microsoft's REST references of Key Vault and of the identity platform. */
export interface Azure extends HttpService {
  readonly logins: () => number
  /** Ends all tokens. */
  revoke(): void
  /** Disables or enables all keys. */
  setEnabled(isEnabled: boolean): void
  /** The versions that were made of all keys together. */
  readonly versions: () => number
}

const failed = (status: number, code: string, headers?: Record<string, string>): ServiceAnswer => ({
  status,
  body: { error: { code, message: 'as Azure says it' } },
  ...(headers && { headers }),
})

/** Starts a server with these keys of secp256k1, by name. */
export async function startAzure(secrets: Readonly<Record<string, string>>): Promise<Azure> {
  const keys = new Map(Object.entries(secrets).map(([name, secret]) => [name, holdSecp256k1(secret)]))
  const tags = new Map<string, object>()
  const tokens = new Set<string>()
  let [logins, isEnabled, versions] = [0, true, keys.size]

  function newToken(): string {
    logins += 1
    const token = `eyJ0.${logins}`
    tokens.add(token)
    return token
  }

  function logIn({ body }: ServiceRequest): ServiceAnswer {
    if (!isLogin(new URLSearchParams(body))) return { status: 401, body: { error: 'invalid_client' } }
    return { status: 200, body: { token_type: 'Bearer', expires_in: 3599, access_token: newToken() } }
  }

  /** Answers as the identity endpoint of App Service. */
  function identify({ headers, query }: ServiceRequest): ServiceAnswer {
    const isAllowed = headers['x-identity-header'] === IDENTITY_HEADER && query.get('resource') === RESOURCE
    if (!isAllowed) return { status: 400, body: { statusCode: 400, message: 'No identity.' } }
    const expires = String(Math.floor(Date.now() / 1000) + 3599)
    return {
      status: 200,
      body: { access_token: newToken(), expires_on: expires, resource: RESOURCE, token_type: 'Bearer' },
    }
  }

  /** Imports as `KeyImportParameters` describes it: a private key of secp256k1 as a JWK (RFC 7517). */
  function importKey(name: string, body: string): ServiceAnswer {
    const { kty, crv, key_ops: uses, x, y, d, ...unknown } = JSON.parse(body).key
    const isKnown = kty === 'EC' && crv === 'P-256K' && String(uses) === 'sign,verify'
    if (!isKnown || Object.keys(unknown).length > 0) return failed(400, 'BadParameter')
    const key = holdSecp256k1(Buffer.from(d, 'base64url').toString('hex'))
    const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
    if (!point.equals(key.point)) return failed(400, 'BadParameter')
    keys.set(name, key)
    return { status: 200, body: bundleOf(name, key, true) }
  }

  /** Creates as `KeyCreateParameters` describes it. A name that exists gets a new version, which is another key. */
  function createKey(name: string, body: string): ServiceAnswer {
    const { kty, crv, key_ops: uses, tags: given, attributes, ...unknown } = JSON.parse(body)
    const isKnown = kty === 'EC' && crv === 'P-256K' && String(uses) === 'sign,verify'
    const hasMore = Object.keys(unknown).length > 0 || Object.keys(attributes ?? {}).length > 0
    if (!isKnown || hasMore) return failed(400, 'BadParameter')
    versions += 1
    const key = holdSecp256k1(randomBytes(32).toString('hex'))
    keys.set(name, key)
    tags.set(name, given)
    return { status: 200, body: { ...bundleOf(name, key, true), tags: given } }
  }

  function askKey({ method, path, body }: ServiceRequest): ServiceAnswer {
    const [, name = '', version = '', verb = ''] =
      /^\/keys\/([^/]+)(?:\/([^/]*))?(?:\/(sign))?$/.exec(path) ?? []
    const key = keys.get(name)
    if (method === 'PUT' && name !== '' && version === '') return importKey(name, body)
    if (method === 'POST' && version === 'create' && verb === '') return createKey(name, body)
    if (key === undefined || (version !== '' && version !== versionOf(name)))
      return failed(404, 'KeyNotFound')
    if (method === 'GET' && verb === '')
      return {
        status: 200,
        body: { ...bundleOf(name, key, isEnabled), ...(tags.has(name) && { tags: tags.get(name) }) },
      }
    if (method !== 'POST' || verb !== 'sign' || version === '') return failed(404, 'NotFound')
    return isEnabled ? sign(key, { kid: kidOf(name), body }) : failed(403, 'Forbidden')
  }

  const service = await startHttpService((request) => {
    if (request.path === '/msi/token') return identify(request)
    if (request.path === `/${TENANT}/oauth2/v2.0/token`) return logIn(request)
    if (request.path.includes('.well-known')) return failed(404, 'NotFound')
    if (!API_VERSION.test(request.query.get('api-version') ?? '')) return failed(400, 'BadParameter')
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    if (tokens.has(bearer)) return askKey(request)
    const challenge = `Bearer authorization="https://login.microsoftonline.com/${TENANT}", resource="${RESOURCE}"`
    return failed(401, 'Unauthorized', { 'www-authenticate': challenge })
  })
  return {
    ...service,
    logins: () => logins,
    versions: () => versions,
    revoke: () => tokens.clear(),
    setEnabled: (wanted) => {
      isEnabled = wanted
    },
  }
}

export const versionOf = (name: string) => createHash('md5').update(name).digest('hex')

const kidOf = (name: string) => `https://${VAULT_HOST}/keys/${name}/${versionOf(name)}`

function bundleOf(name: string, { point }: HeldSecp256k1, enabled: boolean): object {
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  return {
    key: { kid: kidOf(name), kty: 'EC', crv: 'P-256K', key_ops: ['sign', 'verify'], x, y },
    attributes: { enabled, created: 1_700_000_000, updated: 1_700_000_000, recoveryLevel: 'Recoverable' },
  }
}

/** Signs as `KeySignParameters` describes it: a digest of 32 bytes in base64url, without padding. */
function sign(key: HeldSecp256k1, { kid, body }: { kid: string; body: string }): ServiceAnswer {
  const { alg, value, ...unknown } = JSON.parse(body)
  const isText = typeof value === 'string' && /^[A-Za-z0-9_-]{43}$/.test(value)
  if (alg !== 'ES256K' || !isText || Object.keys(unknown).length > 0) return failed(400, 'BadParameter')
  return {
    status: 200,
    body: { kid, value: key.sign(Buffer.from(value, 'base64url')).toString('base64url') },
  }
}

/** Checks the client credentials grant, by a secret or by the token of a cluster (RFC 7523). */
function isLogin(form: URLSearchParams): boolean {
  const isGrant = form.get('grant_type') === 'client_credentials' && form.get('client_id') === CLIENT_ID
  if (!isGrant || !form.get('scope')?.split(' ').includes(`${RESOURCE}/.default`)) return false
  if (form.get('client_secret') === CLIENT_SECRET) return true
  return (
    form.get('client_assertion') === FEDERATED_TOKEN &&
    form.get('client_assertion_type') === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
  )
}
