import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { unwrapPrivateKey } from './held-keys.ts'

/** The AppRole that the server knows. */
export const APP_ROLE = { role_id: 'role-of-the-relayer', secret_id: 'secret-of-the-relayer' }

/** The namespace in which everything is. */
export const NAMESPACE = 'team-a'

interface VaultOptions {
  /** The private keys of the KV engine, by path: the text of the field `value`. */
  readonly secrets: Readonly<Record<string, string>>
  /** The seeds of the versions of each transit key, as hex digits, oldest first. */
  readonly transit: Readonly<Record<string, readonly string[]>>
}

/** A server with the operations of Vault that the service uses, as Vault's API documentation describes them. */
export interface Vault {
  readonly url: string
  /** Ends all tokens, as an operator who revokes them. */
  revoke(): void
  readonly logins: () => number
  /** The number of transit keys. */
  readonly keys: () => number
  /** Lets the policy allow new transit keys, or deny them. */
  setCreating(isAllowed: boolean): void
  stop(): Promise<void>
}

type Answer = readonly [status: number, body: object]

const DENIED: Answer = [403, { errors: ['permission denied'] }]
const ABSENT: Answer = [404, { errors: [] }]

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Starts it. It checks method, path, namespace, token and the fields of each body. */
export async function startVault({ secrets, transit }: VaultOptions): Promise<Vault> {
  const tokens = new Set<string>()
  let [logins, isCreating] = [0, true]
  const stored = new Map(Object.entries(secrets))
  const wrapping = generateKeyPairSync('rsa', { modulusLength: 4096 })
  const keys = new Map(Object.entries(transit).map(([name, seeds]) => [name, seeds.map(ed25519)]))

  function logIn(body: Record<string, unknown>): Answer {
    if (body.role_id !== APP_ROLE.role_id || body.secret_id !== APP_ROLE.secret_id)
      return [400, { errors: ['invalid role or secret ID'] }]
    logins += 1
    const token = `hvs.${logins}`
    tokens.add(token)
    return [200, { auth: { client_token: token, lease_duration: 3600, renewable: true } }]
  }

  /** The ways in which transit keys were made, by name: nothing for those of the start. */
  const made = new Map<string, { readonly exportable: boolean; readonly imported_key: boolean }>()

  function readKey(name: string): Answer {
    const versions = keys.get(name)
    if (versions === undefined) return ABSENT
    const listed = versions.map((key, index) => [
      index + 1,
      { public_key: publicKeyOf(key).toString('base64') },
    ])
    const kept = made.get(name) ?? { exportable: false, imported_key: false }
    const flags = { ...kept, allow_plaintext_backup: false, deletion_allowed: false, derived: false }
    const own = { name, type: 'ed25519', latest_version: versions.length, keys: Object.fromEntries(listed) }
    return [200, { data: { ...own, ...flags } }]
  }

  /** Creates a key. For a name that exists, it does nothing and returns the key. */
  function createKey(name: string, body: Record<string, unknown>): Answer {
    const { type, exportable, allow_plaintext_backup: backup, ...unknown } = body
    if (type !== 'ed25519') return [400, { errors: [`unknown key type ${type}`] }]
    if (typeof exportable !== 'boolean' || backup !== false || Object.keys(unknown).length > 0)
      return [400, { errors: ['invalid request'] }]
    if (!keys.has(name)) {
      keys.set(name, [generateKeyPairSync('ed25519').privateKey])
      made.set(name, { exportable, imported_key: false })
    }
    return readKey(name)
  }

  function signWith(name: string, { input, key_version: version }: Record<string, unknown>): Answer {
    const versions = keys.get(name)
    if (versions === undefined) return [400, { errors: ['signing key not found'] }]
    const number = version === undefined ? versions.length : Number(version)
    const key = versions[number - 1]
    if (typeof input !== 'string' || key === undefined) return [400, { errors: ['invalid request'] }]
    const signature = sign(null, Buffer.from(input, 'base64'), key).toString('base64')
    return [200, { data: { signature: `vault:v${number}:${signature}`, key_version: number } }]
  }

  function readSecret(path: string): Answer {
    const value = stored.get(path)
    return value === undefined ? ABSENT : [200, { data: { data: { value }, metadata: { version: 1 } } }]
  }

  /** Writes a secret under a condition on its version, which is 0 where there is none. */
  function writeSecret(path: string, body: Record<string, unknown>): Answer {
    const { options, data } = body as { options?: { cas?: unknown }; data?: { value?: unknown } }
    if (options?.cas !== (stored.has(path) ? 1 : 0))
      return [400, { errors: ['check-and-set parameter did not match the current version'] }]
    if (typeof data?.value !== 'string' || Object.keys(data).length > 1)
      return [400, { errors: ['no data provided'] }]
    stored.set(path, data.value)
    return [200, { data: { version: 1 } }]
  }

  function importKey(name: string, body: Record<string, unknown>): Answer {
    const { type, hash_function: hash, ciphertext, ...unknown } = body
    if (keys.has(name)) return [400, { errors: ['the import path cannot be used with an existing key'] }]
    const isKnown = type === 'ed25519' && hash === 'SHA256' && Object.keys(unknown).length === 0
    if (!isKnown || typeof ciphertext !== 'string') return [400, { errors: ['invalid request'] }]
    const key = unwrapPrivateKey(Buffer.from(ciphertext, 'base64'), wrapping.privateKey)
    if (key.asymmetricKeyType !== 'ed25519') return [400, { errors: ['invalid key type'] }]
    keys.set(name, [key])
    made.set(name, { exportable: false, imported_key: true })
    return [204, {}]
  }

  function route({ method, url = '', headers }: IncomingMessage, body: Record<string, unknown>): Answer {
    const path = decodeURIComponent(url)
    if (headers['x-vault-namespace'] !== NAMESPACE) return DENIED
    if (method === 'POST' && path === '/v1/auth/approle/login') return logIn(body)
    if (!tokens.has(String(headers['x-vault-token']))) return DENIED
    if (method === 'GET' && path === '/v1/transit/wrapping_key')
      return [200, { data: { public_key: wrapping.publicKey.export({ format: 'pem', type: 'spki' }) } }]
    const imported = /^\/v1\/transit\/keys\/([^/]+)\/import$/.exec(path)?.[1]
    if (method === 'POST' && imported !== undefined) return importKey(imported, body)
    const [, engine = '', verb = '', name = ''] = /^\/v1\/(\w+)\/(\w+)\/(.+)$/.exec(path) ?? []
    if (method === 'GET' && engine === 'transit' && verb === 'keys') return readKey(name)
    if (method === 'POST' && engine === 'transit' && verb === 'keys')
      return isCreating ? createKey(name, body) : DENIED
    if (method === 'POST' && engine === 'transit' && verb === 'sign') return signWith(name, body)
    if (method === 'GET' && engine === 'secret' && verb === 'data') return readSecret(name)
    if (method === 'POST' && engine === 'secret' && verb === 'data') return writeSecret(name, body)
    return [404, { errors: ['no handler for route'] }]
  }

  const server = createServer(async (request, response) => {
    const text = (await request.toArray()).join('')
    const [status, body] = route(request, text === '' ? {} : JSON.parse(text))
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(status === 204 ? '' : JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    revoke: () => tokens.clear(),
    logins: () => logins,
    keys: () => keys.size,
    setCreating: (isAllowed) => {
      isCreating = isAllowed
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function ed25519(seed: string): KeyObject {
  return createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, Buffer.from(seed, 'hex')]),
    format: 'der',
    type: 'pkcs8',
  })
}

function publicKeyOf(key: KeyObject): Buffer {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return Buffer.from(x, 'base64url')
}
