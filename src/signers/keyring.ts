import type { Kysely } from 'kysely'
import type { Schema } from '../database/schema.ts'
import type { Sealer } from '../security/sealer.ts'
import { createKey, type Key } from './key.ts'
import { findSealed } from './store.ts'

/** The keys of all signers, those of the configuration and those that callers created. */
export interface Keyring {
  /**
   * Undefined when there is no signer of this id.
   * @throws UnsealError when its stored secret cannot be opened
   */
  find(id: string): Promise<Key | undefined>
}

interface KeyringDeps {
  readonly db: Kysely<Schema>
  /** Absent when the deployment has no STORAGE_ENCRYPTION_KEY. */
  readonly sealer: Sealer | undefined
  /** The keys of the configuration, by signer. */
  readonly configured: ReadonlyMap<string, Key>
}

/** The name that is sealed in, so that a stored secret is no use to another signer. */
export const ownerOf = (signerId: string) => `signer ${signerId}`

/** Stored secrets are read and opened at each call: another process may have deleted the signer and created it anew. */
export function createKeyring({ db, sealer, configured }: KeyringDeps): Keyring {
  return {
    find: async (id) => {
      const sealed = await findSealed(db, id)
      // A signer of the file that a caller deleted is none, though its key is still loaded.
      if (sealed === undefined) return undefined
      if (sealed === null) return configured.get(id)
      if (sealer === undefined)
        throw new Error(`The secret of signer "${id}" is stored, and STORAGE_ENCRYPTION_KEY is not set.`)
      return createKey(id, Buffer.from(sealer.open(sealed, ownerOf(id)), 'hex'))
    },
  }
}
