import type { Db } from '../database/db.ts'
import { createBatcher } from '../lib/concurrency/batcher.ts'
import type { Sealer } from '../security/secrets.ts'
import { createKey, createSeparateKey, type Key } from './key.ts'
import { type ConnectionContext, connectSigner } from './providers/connect.ts'
import { providerOf, type SignerConfig } from './providers/registry.ts'
import { openSealed } from './providers/sealed-config.ts'
import { decodePublicKeys } from './remote/remote-key.ts'
import { findSealed, GENERATED, type SealedSigner } from './store.ts'

/** The keys of all signers: of the configuration, and of callers. */
export interface Keyring {
  /**
   * Finds the key of a signer; undefined if the signer does not exist.
   * @throws UnsealError if its stored secret cannot be opened
   */
  find(id: string): Promise<Key | undefined>
}

interface KeyringDeps {
  readonly db: Db
  /** Undefined if the deployment has no STORAGE_ENCRYPTION_KEY. */
  readonly sealer: Sealer | undefined
  /** The keys of the configuration, by signer id. */
  readonly configured: ReadonlyMap<string, Key>
  /** Connects to the key services that callers named. */
  readonly connection: ConnectionContext
}

/** Returns the name that is sealed with a secret, so that no other signer can use the stored secret. */
export const ownerOf = (signerId: string) => `signer ${signerId}`

/**
 * The maximum number of signers that one statement reads. Without a limit, the response for many relayers
 * would block the process for a while.
 */
const MAX_SIGNERS = 500

interface Opened {
  readonly sealed: Uint8Array
  readonly key: Key
}

/** The keyring reads stored secrets at each call: another process may have replaced the signer. */
export function createKeyring({ db, sealer, configured, connection }: KeyringDeps): Keyring {
  /** Connections are kept, because the limits of a key hold for all of its relayers. */
  const connected = new Map<string, Opened>()
  // Thousands of relayers need it at a start.
  const findStored = createBatcher<string, SealedSigner | null>({
    keyOf: () => 'signers',
    maxItems: MAX_SIGNERS,
    run: (ids) => findSealed(db, ids),
  })

  async function open(signer: SealedSigner, sealed: Uint8Array): Promise<Key> {
    const { id, type, publicKeys } = signer
    if (sealer === undefined)
      throw new Error(`The secret of signer "${id}" is stored, and STORAGE_ENCRYPTION_KEY is not set.`)
    const known = connected.get(id)
    if (known && Buffer.from(known.sealed).equals(sealed)) return known.key
    const text = sealer.open(sealed, ownerOf(id))
    if (type === 'plain') return createKey(id, Buffer.from(text, 'hex'))
    if (type === GENERATED) return createSeparateKey(id, Buffer.from(text, 'hex'))
    const key = await openConfig(openSealed(id, text), publicKeys)
    connected.set(id, { sealed, key })
    return key
  }

  async function openConfig(config: SignerConfig, publicKeys: SealedSigner['publicKeys']): Promise<Key> {
    const provider = providerOf(config)
    if (provider.kind === 'remote') {
      if (publicKeys === undefined) throw new Error(`signer "${config.id}" is stored without its public keys`)
      return (await connectSigner(config, connection)).keyOf(decodePublicKeys(publicKeys))
    }
    const key = await provider.open(config.id, config)
    if (typeof key === 'string') throw new Error(`signer "${config.id}": ${key}`)
    return key
  }

  return {
    find: async (id) => {
      const signer = await findStored(id)
      // The key of a signer of the file stays loaded after a caller has deleted the signer, so the table
      // decides.
      if (signer === null) {
        connected.delete(id)
        return undefined
      }
      return signer.sealed === null ? configured.get(id) : open(signer, signer.sealed)
    },
  }
}
