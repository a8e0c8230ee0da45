import type { KeyClient } from '@azure/keyvault-keys'
import type { HttpClient } from '../../lib/http/http-client.ts'
import type { KeyMaterial } from '../import/key-material.ts'
import { loadPackage } from '../providers/load-package.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import type { AzureKeyConfig } from './azure-key.ts'
import { createCredential, NO_RETRIES } from './credentials.ts'
import { toRemoteFault } from './failures.ts'
import { createTransport } from './transport.ts'

interface ImportDeps {
  readonly http: HttpClient
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
}

/**
 * Imports a private key of secp256k1 as the newest version of a key of Azure Key Vault, over TLS. A Managed HSM keeps it in hardware.
 * @throws RemoteFault, MissingPackageError
 */
export async function importIntoAzure(
  { vaultUrl, keyName, keyVersion, login }: AzureKeyConfig,
  deps: ImportDeps,
  { secret, publicKey }: KeyMaterial,
): Promise<void> {
  if (keyVersion !== undefined)
    throw new RemoteFault(
      'refused',
      'gets its version from Azure: leave key_version out of the configuration for the import',
    )
  const azure = await loadPackage('@azure/keyvault-keys', () => import('@azure/keyvault-keys'))
  const { host, origin } = new URL(vaultUrl)
  let loginFault: RemoteFault | undefined
  const httpClient = createTransport({
    ...deps,
    vaultOrigin: origin,
    onLogin: (fault) => {
      loginFault = fault
    },
  })
  const isHsm = host.includes('.managedhsm.')
  try {
    const credential = await createCredential(login, httpClient)
    const client = new azure.KeyClient(vaultUrl, credential, { ...NO_RETRIES, httpClient })
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
    throw faultOf(error, loginFault)
  }
}

/** An import into a key that exists would become its newest version, and other users of the key would sign with it. */
async function refusePresent(client: KeyClient, keyName: string): Promise<void> {
  try {
    await client.getKey(keyName)
  } catch (error) {
    if ((error as { readonly statusCode?: unknown }).statusCode === 404) return
    throw error
  }
  throw new RemoteFault('refused', 'exists already: choose another key_name')
}

function faultOf(error: unknown, loginFault: RemoteFault | undefined): RemoteFault {
  if ((error as { readonly statusCode?: unknown } | null)?.statusCode === 403)
    return new RemoteFault(
      'refused',
      'is denied: allow keys/import on it for the import (the role Key Vault Crypto Officer has it), and let the firewall of the vault pass (status 403)',
    )
  return toRemoteFault(error, loginFault)
}
