import type { CryptographyClient, JsonWebKey, KeyClient, KeyVaultKey } from '@azure/keyvault-keys'
import type { HttpClient } from '../../lib/http/http-client.ts'
import { loadPackage } from '../providers/load-package.ts'
import { type PublicKeys, RemoteFault, type RemoteKey } from '../remote/remote-key.ts'
import { type AzureLogin, createCredential, loadIdentity, NO_RETRIES } from './credentials.ts'
import { toRemoteFault } from './failures.ts'
import { createFirstAlone, type FirstAlone } from './first-alone.ts'
import { createTransport } from './transport.ts'

/** The fields have the names of existing configuration files. */
export interface AzureKeyConfig {
  /** `https://<name>.vault.azure.net`. */
  readonly vaultUrl: string
  readonly keyName: string
  /** The newest version when absent. */
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
  readonly inTurn: FirstAlone
}

/**
 * Connects to a key of Azure Key Vault or Managed HSM.
 * @throws MissingPackageError
 */
export async function connectAzureKey(config: AzureKeyConfig, deps: ConnectDeps): Promise<RemoteKey> {
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

  /** The libraries keep a token until its end, so one that the vault no longer accepts needs a new session. */
  async function ask<T>(work: (current: Session) => Promise<T>): Promise<T> {
    try {
      const used = session ?? (await newSession())
      session ??= used
      return await work(used).catch(async (error: unknown) => {
        if ((error as { readonly statusCode?: unknown }).statusCode !== 401) throw error
        if (session === used) session = await newSession()
        return work(session ?? used)
      })
    } catch (error) {
      throw toRemoteFault(error, loginFault)
    }
  }

  /** Signatures name the version that was read last, because the newest one can change in between. */
  let found: KeyVaultKey | undefined

  async function find(): Promise<KeyVaultKey> {
    const version = keyVersion === undefined ? {} : { version: keyVersion }
    const key = await ask(({ keys }) => keys.getKey(keyName, version))
    if (key.properties?.enabled === false) throw new RemoteFault('refused', 'is disabled: enable it')
    found = key
    return key
  }

  const clients = new WeakMap<Session, SigningClient>()

  /** Keeps the client of a session and a version, because each new one begins with a request that is challenged. */
  function signingClient(current: Session, key: KeyVaultKey): SigningClient {
    const known = clients.get(current)
    if (known !== undefined && known.id === key.id) return known
    const client = new azure.CryptographyClient(key, current.credential, options)
    const made = { id: key.id, client, inTurn: createFirstAlone() }
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
  if (kty === undefined) throw new RemoteFault('unavailable', 'gave a public key that cannot be read')
  if (!kty.startsWith('EC') || crv !== 'P-256K')
    throw new RemoteFault('refused', `is of the type ${crv ?? kty}; relayers need P-256K, which is secp256k1`)
  if (x?.length !== COORDINATE_BYTES || y?.length !== COORDINATE_BYTES)
    throw new RemoteFault('unavailable', 'gave a public key that cannot be read')
  return { secp256k1: Uint8Array.from([UNCOMPRESSED, ...x, ...y]) }
}
