import type { KeyMaterial } from '../import/key-material.ts'
import { wrapWithRsaAes } from '../import/wrap.ts'
import { readWrappingKey } from '../import/wrapping-key.ts'
import { textIn } from '../remote/json-object.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import type { VaultClient } from './vault-client.ts'
import { pathOf } from './vault-path.ts'

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
 * Imports a seed of ed25519 as a new key of the transit engine. Nobody can export it.
 * @throws RemoteFault
 */
export async function importIntoTransit(
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

/** The version that a secret of KV must have before it is written: none. */
const ABSENT = { cas: 0 }

/**
 * Stores a private key in the KV engine, where there is nothing yet. Vault gets it over TLS; it is in this process in hex digits meanwhile.
 * @throws RemoteFault
 */
export async function storeInVault(
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
