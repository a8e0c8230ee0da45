import { type FieldType, httpUrl, text } from '../../lib/fields.ts'
import type { HttpClient, PostAnswer } from '../../lib/http/http-client.ts'
import type { Secret } from '../../security/secrets.ts'
import { createKey, type LocalKey, parsePrivateKey } from '../key.ts'
import type { RemoteProvider, SignerFields } from '../providers/provider.ts'
import { type AccessToken, createAccessTokens } from '../remote/access-token.ts'
import { answered, type JsonObject, objectIn, readJsonObject, textIn } from '../remote/answers.ts'
import { RemoteFault, type RemoteKey } from '../remote/remote-key.ts'
import { type KeyMaterial, readWrappingKey, wrapWithRsaAes } from '../remote/wrap-key.ts'

/** A private key that HashiCorp Vault or OpenBao stores (KV version 2). */
export const vault: RemoteProvider<VaultSignerConfig> = {
  kind: 'remote',
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => readVaultFields(fields, 'secret'),
  show: showVaultFields,
  connect: async (config, context) =>
    connectStoredKey({ ...config, vault: createVaultClient(config, context) }),
  importKey: async (config, context, material) =>
    storeInVault({ ...config, vault: createVaultClient(config, context) }, material),
}

interface VaultTransitConfig extends VaultSignerConfig {
  /** The public key in base64. */
  readonly pubkey: string
}

const PUBLIC_KEY_BYTES = 32

/** Vault writes public keys in base64. */
const publicKey: FieldType<string> = {
  expected: 'an ed25519 public key: 32 bytes in base64',
  read: (value) =>
    typeof value === 'string' &&
    /^[A-Za-z0-9+/]{43}=$/.test(value) &&
    decode(value).length === PUBLIC_KEY_BYTES
      ? value
      : undefined,
  blank: '',
}

/** An ed25519 key of the transit engine of HashiCorp Vault or OpenBao. */
export const vaultTransit: RemoteProvider<VaultTransitConfig> = {
  kind: 'remote',
  curves: ['ed25519'],
  read: (fields) => ({ ...readVaultFields(fields, 'transit'), pubkey: fields.get('pubkey', publicKey) }),
  show: (config) => ({ ...showVaultFields(config), pubkey: config.pubkey }),
  connect: async (config, context) =>
    connectTransitKey({
      ...config,
      vault: createVaultClient(config, context),
      publicKey: decode(config.pubkey),
    }),
  importKey: async (config, context, material) => {
    const vault = createVaultClient(config, context)
    await importIntoTransit({ ...config, vault, publicKey: decode(config.pubkey) }, material)
  },
}

function decode(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'))
}

/** The fields that every signer in a Vault has. */
interface VaultSignerConfig extends VaultConfig {
  readonly keyName: string
  readonly mountPoint: string
}

/** Reads them. `mountPoint` is the default of the engine. */
function readVaultFields(fields: SignerFields, mountPoint: string): VaultSignerConfig {
  return {
    ...readVaultLogin(fields),
    keyName: fields.get('key_name', text),
    mountPoint: fields.find('mount_point', text) ?? mountPoint,
  }
}

/** Reads the way into a Vault. */
export function readVaultLogin(fields: SignerFields): VaultConfig {
  const namespace = fields.find('namespace', text)
  return {
    address: fields.get('address', httpUrl),
    ...(namespace && { namespace }),
    roleId: fields.secret('role_id'),
    secretId: fields.secret('secret_id'),
  }
}

/** Returns the public fields. The URL shows only its origin, because paths and users can be secret. */
function showVaultFields({ address, namespace, keyName, mountPoint }: VaultSignerConfig) {
  return {
    address: new URL(address).origin,
    ...(namespace && { namespace }),
    key_name: keyName,
    mount_point: mountPoint,
  }
}

interface StoredKeyOptions {
  readonly vault: VaultClient
  readonly keyName: string
  readonly mountPoint: string
}

/**
 * Connects to a private key that a Vault stores (KV version 2), in the field `value`. Vault returns the key,
 * so this process has it from the first use on; it reads again when its public key is checked.
 */
function connectStoredKey({ vault, keyName, mountPoint }: StoredKeyOptions): RemoteKey {
  let opened: LocalKey | undefined

  async function read(): Promise<LocalKey> {
    const { data } = await vault({ method: 'GET', path: pathOf(mountPoint, 'data', keyName) })
    if (typeof data !== 'object' || data === null)
      throw new RemoteFault('unavailable', 'returned a response without a secret')
    const { value } = data as { readonly value?: unknown }
    const secret = typeof value === 'string' ? await parsePrivateKey(value) : undefined
    if (secret === undefined) throw new RemoteFault('refused', 'has no private key in its field "value"')
    const key = createKey(keyName, secret)
    secret.fill(0)
    opened = key
    return key
  }

  return {
    name: `Vault secret ${keyName} in ${mountPoint}`,
    publicKeys: async () => {
      const { evm, stellar } = await read()
      return { secp256k1: evm.publicKey, ed25519: stellar.publicKey }
    },
    sign: async ({ curve, payload }) => {
      const { evm, stellar } = opened ?? (await read())
      if (curve === 'ed25519') return stellar.sign(payload)
      const { r, s } = await evm.sign(payload)
      return new Uint8Array(Buffer.concat([r, s]))
    },
  }
}

interface TransitKeyOptions {
  readonly vault: VaultClient
  readonly keyName: string
  readonly mountPoint: string
  /** The wanted public key, 32 bytes. It selects the version of the key. */
  readonly publicKey: Uint8Array
}

/** The prefix of a signature, with the version of the key. */
const SIGNATURE = /^vault:v\d+:([A-Za-z0-9+/=]+)$/

/**
 * Connects to an ed25519 key of the transit engine. It signs with the version of the key that has the
 * configured public key, so a rotation in Vault changes nothing until the configuration names the new one.
 */
function connectTransitKey({ vault, keyName, mountPoint, publicKey }: TransitKeyOptions): RemoteKey {
  let version: number | undefined

  async function findVersion(): Promise<number> {
    const { keys } = await vault({ method: 'GET', path: pathOf(mountPoint, 'keys', keyName) })
    if (typeof keys !== 'object' || keys === null)
      throw new RemoteFault('unavailable', 'returned a response without versions')
    const found = versionOf(keys, Buffer.from(publicKey))
    if (found === undefined)
      throw new RemoteFault(
        'refused',
        'has no version with the configured pubkey, or is not of the type ed25519',
      )
    version = found
    return found
  }

  return {
    name: `Vault transit key ${keyName} in ${mountPoint}`,
    publicKeys: async () => {
      await findVersion()
      return { ed25519: publicKey }
    },
    sign: async ({ payload }) => {
      const { signature } = await vault({
        method: 'POST',
        path: pathOf(mountPoint, 'sign', keyName),
        body: {
          input: Buffer.from(payload).toString('base64'),
          key_version: version ?? (await findVersion()),
        },
      })
      const base64 = typeof signature === 'string' ? SIGNATURE.exec(signature)?.[1] : undefined
      if (base64 === undefined) throw new RemoteFault('unavailable', 'returned an unreadable signature')
      return new Uint8Array(Buffer.from(base64, 'base64'))
    },
  }
}

/** Versions are listed by number, with their public key in base64. */
function versionOf(keys: object, wanted: Buffer): number | undefined {
  const found = Object.entries(keys).find(([, entry]) => {
    const publicKey = (entry as { readonly public_key?: unknown } | null)?.public_key
    return typeof publicKey === 'string' && Buffer.from(publicKey, 'base64').equals(wanted)
  })
  return found === undefined ? undefined : Number(found[0])
}

interface VaultTarget {
  readonly vault: VaultClient
  readonly keyName: string
  readonly mountPoint: string
}

interface TransitTarget extends VaultTarget {
  /** The configured public key, 32 bytes. */
  readonly publicKey: Uint8Array
}

/**
 * Imports an ed25519 seed as a new key of the transit engine, which cannot be exported.
 * @throws RemoteFault
 */
async function importIntoTransit(
  { vault, keyName, mountPoint, publicKey }: TransitTarget,
  material: KeyMaterial,
): Promise<void> {
  if (!Buffer.from(publicKey).equals(material.publicKey))
    throw new RemoteFault(
      'refused',
      `has another pubkey in the configuration than the key to import: "pubkey": "${Buffer.from(material.publicKey).toString('base64')}"`,
    )
  const answer = await vault({ method: 'GET', path: pathOf(mountPoint, 'wrapping_key') })
  const ciphertext = wrapWithRsaAes(material, readWrappingKey(textIn(answer, 'public_key')))
  await vault({
    method: 'POST',
    path: pathOf(mountPoint, 'keys', keyName, 'import'),
    body: { type: 'ed25519', hash_function: 'SHA256', ciphertext: ciphertext.toString('base64') },
  })
}

/** The version that a KV secret must have before it is written: none. */
const ABSENT = { cas: 0 }

/**
 * Stores a private key in the KV engine, where there is nothing yet. Vault gets it over TLS; during the call
 * it is in this process in hex digits.
 * @throws RemoteFault
 */
async function storeInVault(
  { vault, keyName, mountPoint }: VaultTarget,
  { secret }: KeyMaterial,
): Promise<void> {
  const value = Buffer.from(secret).toString('hex')
  await vault({
    method: 'POST',
    path: pathOf(mountPoint, 'data', keyName),
    body: { options: ABSENT, data: { value } },
  })
}

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

/** Calls a Vault, logged in. */
type VaultClient = (request: VaultRequest) => Promise<JsonObject>

interface VaultClientDeps {
  readonly http: HttpClient
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
}

/**
 * Creates a client that logs in by AppRole when it has no token, and again when Vault no longer accepts the
 * one it has.
 */
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
    if (answer.status !== 200) throw failureOf(answer, 'cannot be used: the login by AppRole failed')
    const auth = objectIn(readJsonObject(answer.body), 'auth')
    const text = textIn(auth, 'client_token')
    if (text === '') throw new RemoteFault('unavailable', 'returned no token at the login')
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
    // The token may have been revoked, and the policy may have changed: a new token shows which.
    await tokens.drop(token)
    return dataOf(await sendWith(await tokens.present(), request))
  }
}

/** @throws RemoteFault for a status other than 200, or 204, by which Vault says that there is no content */
function dataOf(answer: PostAnswer): JsonObject {
  if (answer.status === 204) return {}
  if (answer.status !== 200) throw failureOf(answer, 'is denied: check the policy of the AppRole')
  return objectIn(readJsonObject(answer.body), 'data')
}

/** Translates a status. `denied` completes "<the key> …" for a request that Vault refuses. */
function failureOf({ status }: PostAnswer, denied: string): RemoteFault {
  if (status === 429) return new RemoteFault('throttled', 'gets too many requests (status 429)')
  if (status === 404) return new RemoteFault('refused', 'does not exist in this mount (status 404)')
  if (status === 400 || status === 403) return new RemoteFault('refused', `${denied} (status ${status})`)
  const sealed = status === 503 ? ', sealed or in maintenance' : ''
  return new RemoteFault('unavailable', `cannot be used: Vault answered with status ${status}${sealed}`)
}

/**
 * Joins a path below `/v1/`. A mount can have several segments, so its slashes stay; everything else is one
 * segment.
 */
export function pathOf(mountPoint: string, ...segments: readonly string[]): string {
  const mount = mountPoint.split('/').filter((segment) => segment !== '')
  return [...mount, ...segments].map(encodeURIComponent).join('/')
}
