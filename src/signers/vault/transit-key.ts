import { RemoteFault, type RemoteKey } from '../remote/remote-key.ts'
import type { VaultClient } from './vault-client.ts'
import { pathOf } from './vault-path.ts'

interface TransitKeyOptions {
  readonly vault: VaultClient
  readonly keyName: string
  readonly mountPoint: string
  /** The wanted public key, 32 bytes. It selects the version of the key. */
  readonly publicKey: Uint8Array
}

/** The prefix of a signature: the version of the key stands in it. */
const SIGNATURE = /^vault:v\d+:([A-Za-z0-9+/=]+)$/

/**
 * Connects to an ed25519 key of the transit engine. It signs with the version of the key that has the configured public key, so a rotation
 * in Vault changes nothing until the configuration names the new one.
 */
export function connectTransitKey({ vault, keyName, mountPoint, publicKey }: TransitKeyOptions): RemoteKey {
  let version: number | undefined

  async function findVersion(): Promise<number> {
    const { keys } = await vault({ method: 'GET', path: pathOf(mountPoint, 'keys', keyName) })
    if (typeof keys !== 'object' || keys === null)
      throw new RemoteFault('unavailable', 'gave an answer without versions')
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
      if (base64 === undefined) throw new RemoteFault('unavailable', 'gave a signature that cannot be read')
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
