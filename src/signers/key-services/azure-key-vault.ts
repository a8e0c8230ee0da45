import type { CryptographyClient, JsonWebKey, KeyClient, KeyVaultKey } from '@azure/keyvault-keys'
import { type FieldType, oneOf, text } from '../../lib/fields.ts'
import type { HttpClient } from '../../lib/http/http-client.ts'
import { omitUndefined } from '../../lib/object.ts'
import { loadPackage, type RemoteProvider, type SignerFields } from '../providers/provider.ts'
import { sanitisedCause } from '../remote/answers.ts'
import { type PublicKeys, RemoteFault, type RemoteKey } from '../remote/remote-key.ts'
import type { KeyMaterial } from '../remote/wrap-key.ts'
import {
  type AzureLogin,
  createCredential,
  createTransport,
  loadIdentity,
  NO_RETRIES,
} from './azure-identity.ts'

/**
 * The hosts of Azure's clouds. Tokens of the service's own identity go there, so no other host may be named.
 * A name has no two hyphens in a row, so it is never in Punycode.
 */
const VAULT =
  /^https:\/\/[a-z0-9]+(-[a-z0-9]+)*\.(vault|managedhsm)\.(azure\.net|azure\.cn|usgovcloudapi\.net)\/?$/

export const vaultUrl: FieldType<string> = {
  expected: 'the url of a vault, such as https://payments.vault.azure.net',
  read: (value) => (typeof value === 'string' && VAULT.test(value) ? value : undefined),
  blank: '',
}

const authType = oneOf('client_secret', 'managed_identity', 'workload_identity')

/** Azure names are parts of paths, so no other character is allowed. */
const name: FieldType<string> = {
  expected: '1 to 127 letters, digits or "-"',
  read: (value) => (typeof value === 'string' && /^[A-Za-z0-9-]{1,127}$/.test(value) ? value : undefined),
  blank: '',
}

/** A key of Azure Key Vault or Managed HSM, of the type EC and the curve P-256K. Azure has no Ed25519. */
export const azureKeyVault: RemoteProvider<AzureKeyConfig> = {
  kind: 'remote',
  curves: ['secp256k1'],
  read: (fields) => {
    const keyVersion = fields.find('key_version', name)
    return {
      vaultUrl: fields.get('vault_url', vaultUrl),
      keyName: fields.get('key_name', name),
      ...(keyVersion && { keyVersion }),
      login: readLogin(fields),
    }
  },
  show: ({ vaultUrl: url, keyName, keyVersion, login }) => ({
    auth_type: login.authType,
    vault_url: new URL(url).origin,
    key_name: keyName,
    ...(keyVersion && { key_version: keyVersion }),
  }),
  connect: connectAzureKey,
  importKey: importIntoAzure,
}

/** Reads the login of a signer. */
export function readLogin(fields: SignerFields): AzureLogin {
  switch (fields.find('auth_type', authType) ?? 'client_secret') {
    case 'client_secret':
      return {
        authType: 'client_secret',
        tenantId: fields.get('tenant_id', name),
        clientId: fields.get('client_id', name),
        clientSecret: fields.secret('client_secret'),
      }
    case 'managed_identity':
      return { authType: 'managed_identity', ...omitUndefined({ clientId: fields.find('client_id', name) }) }
    case 'workload_identity':
      return {
        authType: 'workload_identity',
        ...omitUndefined({
          tenantId: fields.find('tenant_id', name),
          clientId: fields.find('client_id', name),
          tokenFilePath: fields.find('federated_token_file', text),
        }),
      }
  }
}

/** The fields have the names of existing configuration files. */
interface AzureKeyConfig {
  /** `https://<name>.vault.azure.net`. */
  readonly vaultUrl: string
  readonly keyName: string
  /** If absent, the newest version. */
  readonly keyVersion?: string
  readonly login: AzureLogin
}

interface ConnectDeps {
  readonly http: HttpClient
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
}

/** A login, and the client that reads keys with it. */
interface Session {
  readonly keys: KeyClient
  readonly credential: Awaited<ReturnType<typeof createCredential>>
}

/** The client that signs with one version of the key. */
interface SigningClient {
  readonly id: string | undefined
  readonly client: CryptographyClient
  readonly inTurn: WarmUpGate
}

/**
 * Connects to a key of Azure Key Vault or Managed HSM.
 * @throws MissingPackageError
 */
async function connectAzureKey(config: AzureKeyConfig, deps: ConnectDeps): Promise<RemoteKey> {
  const { vaultUrl, keyName, keyVersion, login } = config
  const azure = await loadPackage('@azure/keyvault-keys', () => import('@azure/keyvault-keys'))
  let loginFault: RemoteFault | undefined
  const httpClient = createTransport({
    ...deps,
    vaultOrigin: new URL(vaultUrl).origin,
    onLogin: (fault) => {
      loginFault = fault
    },
  })
  const options = { ...NO_RETRIES, httpClient }
  const newSession = async (): Promise<Session> => {
    const credential = await createCredential(login, httpClient)
    return { keys: new azure.KeyClient(vaultUrl, credential, options), credential }
  }
  // A missing library is the fault of the installation, and shows at once.
  await loadIdentity()
  let session: Session | undefined

  /**
   * The libraries keep a token until its end, so one that the vault no longer accepts needs a new session.
   */
  async function ask<T>(work: (current: Session) => Promise<T>): Promise<T> {
    try {
      const used = session ?? (await newSession())
      session ??= used
      return await work(used).catch(async (error: unknown) => {
        if (statusOf(error) !== 401) throw error
        if (session === used) session = await newSession()
        return work(session ?? used)
      })
    } catch (error) {
      throw toRemoteFault(error, loginFault)
    }
  }

  /** Signatures name the version that was read last, because the newest one can change in the meantime. */
  let found: KeyVaultKey | undefined

  async function find(): Promise<KeyVaultKey> {
    const version = keyVersion === undefined ? {} : { version: keyVersion }
    const key = await ask(({ keys }) => keys.getKey(keyName, version))
    if (key.properties?.enabled === false) throw new RemoteFault('refused', 'is disabled: enable it')
    found = key
    return key
  }

  const clients = new WeakMap<Session, SigningClient>()

  /**
   * Keeps the client of a session and a version, because each new one begins with a request that is
   * challenged.
   */
  function signingClient(current: Session, key: KeyVaultKey): SigningClient {
    const known = clients.get(current)
    if (known !== undefined && known.id === key.id) return known
    const client = new azure.CryptographyClient(key, current.credential, options)
    const made = { id: key.id, client, inTurn: createWarmUpGate() }
    clients.set(current, made)
    return made
  }

  return {
    name: `Azure Key Vault key ${keyName}${keyVersion ? ` version ${keyVersion}` : ''} in ${new URL(vaultUrl).host}`,
    publicKeys: async () => readPublicKey((await find()).key),
    sign: async ({ payload }) => {
      const key = found ?? (await find())
      const { result } = await ask((current) => {
        const { client, inTurn } = signingClient(current, key)
        return inTurn(() => client.sign('ES256K', payload))
      })
      return Uint8Array.from(result ?? [])
    },
  }
}

/** The first byte of an uncompressed point. */
const UNCOMPRESSED = 0x04
const COORDINATE_BYTES = 32

/** Azure names the curve secp256k1 P-256K. */
function readPublicKey(key: JsonWebKey | undefined): PublicKeys {
  const { kty, crv, x, y } = key ?? {}
  if (kty === undefined) throw new RemoteFault('unavailable', 'returned an unreadable public key')
  if (!kty.startsWith('EC') || crv !== 'P-256K')
    throw new RemoteFault('refused', `is of the type ${crv ?? kty}; relayers need P-256K, which is secp256k1`)
  if (x?.length !== COORDINATE_BYTES || y?.length !== COORDINATE_BYTES)
    throw new RemoteFault('unavailable', 'returned an unreadable public key')
  return { secp256k1: Uint8Array.from([UNCOMPRESSED, ...x, ...y]) }
}

/** Runs work; until one has succeeded, each runs alone. */
type WarmUpGate = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Lets one request of a client succeed before it sends others. Azure's library learns from its first request
 * who issues tokens, and omits its body; if another request learns that first, the library resends the first
 * one without its body.
 */
export function createWarmUpGate(): WarmUpGate {
  let isLearned = false
  let running: Promise<void> | undefined
  return async (work) => {
    while (!isLearned && running !== undefined) await running
    if (isLearned) return work()
    const made = work()
    running = made
      .then(
        () => {
          isLearned = true
        },
        () => undefined,
      )
      .finally(() => {
        running = undefined
      })
    return made
  }
}

/**
 * Imports a private key of secp256k1 as the newest version of a key of Azure Key Vault, over TLS. A Managed
 * HSM keeps it in hardware.
 * @throws RemoteFault, MissingPackageError
 */
async function importIntoAzure(
  { vaultUrl, keyName, keyVersion, login }: AzureKeyConfig,
  deps: ConnectDeps,
  { secret, publicKey }: KeyMaterial,
): Promise<void> {
  if (keyVersion !== undefined)
    throw new RemoteFault(
      'refused',
      'gets its version from Azure: remove key_version from the configuration for the import',
    )
  const isHsm = isManagedHsm(vaultUrl)
  const { client, faultOf } = await openKeyClient({ vaultUrl, login }, deps)
  try {
    await refusePresent(client, keyName)
    await client.importKey(
      keyName,
      {
        kty: isHsm ? 'EC-HSM' : 'EC',
        crv: 'P-256K',
        keyOps: ['sign', 'verify'],
        x: publicKey.subarray(1, 33),
        y: publicKey.subarray(33),
        d: secret,
      },
      isHsm ? { hardwareProtected: true } : {},
    )
  } catch (error) {
    throw deniedOr(
      error,
      'is denied: allow keys/import on it for the import (the role Key Vault Crypto Officer has it), and open the firewall of the vault (status 403)',
      faultOf,
    )
  }
}

/** Returns true for the url of a Managed HSM, which keeps every key in hardware. */
export function isManagedHsm(url: string): boolean {
  return new URL(url).host.includes('.managedhsm.')
}

/** A client for one task, and the translation of its errors. */
interface TaskClient {
  readonly client: KeyClient
  readonly faultOf: (error: unknown) => RemoteFault
}

/** Logs in to a vault for one task. @throws RemoteFault, MissingPackageError */
export async function openKeyClient(
  { vaultUrl, login }: Pick<AzureKeyConfig, 'vaultUrl' | 'login'>,
  deps: ConnectDeps,
): Promise<TaskClient> {
  const azure = await loadPackage('@azure/keyvault-keys', () => import('@azure/keyvault-keys'))
  await loadIdentity()
  let loginFault: RemoteFault | undefined
  const httpClient = createTransport({
    ...deps,
    vaultOrigin: new URL(vaultUrl).origin,
    onLogin: (fault) => {
      loginFault = fault
    },
  })
  const credential = await createCredential(login, httpClient)
  return {
    client: new azure.KeyClient(vaultUrl, credential, { ...NO_RETRIES, httpClient }),
    faultOf: (error) => toRemoteFault(error, loginFault),
  }
}

/** Translates an error. `denied` is the sentence for a call that the vault does not allow. */
export function deniedOr(
  error: unknown,
  denied: string,
  faultOf: (error: unknown) => RemoteFault,
): RemoteFault {
  const isDenied = statusOf(error) === 403
  return isDenied ? new RemoteFault('refused', denied, { cause: sanitisedCause(error) }) : faultOf(error)
}

/** Returns the status of the vault's answer; undefined without one. */
export function statusOf(error: unknown): number | undefined {
  const { statusCode } = (error ?? {}) as { readonly statusCode?: unknown }
  return typeof statusCode === 'number' ? statusCode : undefined
}

/**
 * An import into a key that exists would become its newest version, and other users of the key would sign
 * with it.
 */
async function refusePresent(client: KeyClient, keyName: string): Promise<void> {
  try {
    await client.getKey(keyName)
  } catch (error) {
    if (statusOf(error) === 404) return
    throw error
  }
  throw new RemoteFault('refused', 'exists already: choose another key_name')
}

/** The sentences complete "Azure Key Vault key … ", by the status of the vault. */
const REFUSED: Readonly<Record<number, string>> = {
  400: 'cannot sign in this way',
  401: 'cannot be used: the vault does not accept the login; it may belong to another tenant',
  403: 'is denied: allow keys/read and keys/sign on it (the role Key Vault Crypto User has both), enable it, and open the firewall of the vault',
  404: 'does not exist in this vault',
  409: 'cannot be used in its state: it may be deleted',
}

/**
 * Translates an error of the libraries. Their messages can name tenants and users, so only the status is
 * passed on.
 */
function toRemoteFault(error: unknown, loginFault: RemoteFault | undefined): RemoteFault {
  const known = faultIn(error)
  if (known !== undefined) return known
  const cause = sanitisedCause(error)
  const status = statusOf(error) ?? 0
  if (status === 429) return new RemoteFault('throttled', 'gets too many calls (status 429)', { cause })
  const refusal = REFUSED[status]
  if (refusal !== undefined) return new RemoteFault('refused', `${refusal} (status ${status})`, { cause })
  if (loginFault !== undefined) return loginFault
  return new RemoteFault('unavailable', 'returned no usable response', { cause })
}

/** The libraries wrap errors of the transport. */
function faultIn(error: unknown): RemoteFault | undefined {
  if (error instanceof RemoteFault) return error
  return error instanceof Error && error.cause !== undefined ? faultIn(error.cause) : undefined
}
