import type { Tx } from '../../database/schema.ts'
import { ConfigError } from '../../lib/config-errors.ts'
import { relayersSigningWith } from '../../relayers/store.ts'
import type { SignerConfig } from '../../signers/load.ts'
import { describeSigner } from '../../signers/providers/registry.ts'
import { encodePublicKeys, type PublicKeys } from '../../signers/remote/remote-key.ts'
import { deleteSigners, listStored, saveConfiguredSigner } from '../../signers/store.ts'
import type { ConfigChange } from './changes.ts'
import { compareEntries } from './compare.ts'
import { readEntries, writeEntries } from './entries-store.ts'
import { refuseUsed } from './refuse-used.ts'

/** The signers of the file, and the public keys of those whose key another service holds, by id. */
export interface ConfiguredSigners {
  readonly signers: readonly SignerConfig[]
  readonly publicKeys: ReadonlyMap<string, PublicKeys>
}

/**
 * Stores the file's signers beside those that callers created, and returns those that the file no longer has. The secrets stay in the
 * file.
 * @throws ConfigError when a caller has created a signer of the same name
 */
export async function applySigners(
  tx: Tx,
  { signers: configured, publicKeys }: ConfiguredSigners,
): Promise<{ changes: ConfigChange[]; gone: readonly string[] }> {
  const stored = await listStored(tx)
  const duplicates = configured.filter(({ id }) => stored.get(id) === 'api')
  if (duplicates.length > 0) {
    throw new ConfigError(
      duplicates.map(
        ({ id }) =>
          `signer "${id}" was created over the API already; delete it there, or give this one another id`,
      ),
    )
  }
  const wanted = configured.map((config) => {
    const keys = publicKeys.get(config.id)
    return { ...describeSigner(config), ...(keys && { publicKeys: encodePublicKeys(keys) }) }
  })
  const { changed, gone, entries } = compareEntries(wanted, await readEntries(tx, 'signer'))
  for (const signer of changed) await saveConfiguredSigner(tx, signer)
  await writeEntries(tx, 'signer', entries)
  const created = changed.filter(({ id }) => !stored.has(id))
  return {
    changes: created.map(({ id }) => ({ kind: 'created', what: 'signer', id, fields: [] })),
    gone: gone.filter((id) => stored.get(id) === 'file'),
  }
}

/**
 * Deletes signers that the file no longer has. Call it after the file's relayers have stopped referring to them.
 * @throws ConfigError when relayers that callers created still do
 */
export async function removeSigners(tx: Tx, ids: readonly string[]): Promise<ConfigChange[]> {
  await refuseUsed(ids, { what: 'signer', usersOf: (id) => relayersSigningWith(tx, id) })
  await deleteSigners(tx, ids)
  return ids.map((id) => ({ kind: 'removed', what: 'signer', id, fields: [] }))
}
