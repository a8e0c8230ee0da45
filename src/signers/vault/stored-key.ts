import { createKey, type LocalKey } from '../key.ts'
import { parsePrivateKey } from '../private-key.ts'
import { RemoteFault, type RemoteKey } from '../remote/remote-key.ts'
import type { VaultClient } from './vault-client.ts'
import { pathOf } from './vault-path.ts'

interface StoredKeyOptions {
  readonly vault: VaultClient
  readonly keyName: string
  readonly mountPoint: string
}

/**
 * Connects to a private key that a Vault stores (KV version 2), in the field `value`. Vault gives the key away, so this process has it
 * from the first use on; it reads again when its public key is checked.
 */
export function connectStoredKey({ vault, keyName, mountPoint }: StoredKeyOptions): RemoteKey {
  let opened: LocalKey | undefined

  async function read(): Promise<LocalKey> {
    const { data } = await vault({ method: 'GET', path: pathOf(mountPoint, 'data', keyName) })
    if (typeof data !== 'object' || data === null)
      throw new RemoteFault('unavailable', 'gave an answer without a secret')
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
