import type { Kysely } from 'kysely'
import type { Schema } from '../database/schema.ts'
import type { Sealer } from '../security/sealer.ts'
import { createKey, type Key } from './key.ts'
import { findSealed } from './store.ts'

/** The keys of all signers: of the configuration, and of callers. */
export interface Keyring {
  /**
   * Finds the key of a signer; undefined when the signer does not exist.
   * @throws UnsealError when its stored secret cannot be opened
   */
  find(id: string): Promise<Key | undefined>
}

interface KeyringDeps {
  readonly db: Kysely<Schema>
  /** Undefined when the deployment has no STORAGE_ENCRYPTION_KEY. */
  readonly sealer: Sealer | undefined
  /** The keys of the configuration, by signer id. */
  readonly configured: ReadonlyMap<string, Key>
}

/** Returns the name that is sealed with a secret, so that no other signer can use the stored secret. */
export const ownerOf = (signerId: string) => `signer ${signerId}`

/** The keyring reads stored secrets at each call: another process may have replaced the signer. */
export function createKeyring({ db, sealer, configured }: KeyringDeps): Keyring {
  return {
    find: async (id) => {
      const sealed = await findSealed(db, id)
      // The key of a signer of the file stays loaded after a caller has deleted the signer, so the table decides.
      if (sealed === undefined) return undefined
      if (sealed === null) return configured.get(id)
      if (sealer === undefined)
        throw new Error(`The secret of signer "${id}" is stored, and STORAGE_ENCRYPTION_KEY is not set.`)
      return createKey(id, Buffer.from(sealer.open(sealed, ownerOf(id)), 'hex'))
    },
  }
}
