import type { Kysely } from 'kysely'
import type { Schema } from '../database/schema.ts'
import { badRequest } from '../errors.ts'
import type { Sealer } from '../sealing/sealer.ts'
import { addKey, keysInUse, lastConfiguredKey } from './keys-store.ts'

/** How long the key before goes on signing when the configuration brings a new one, in ms. */
const CONFIGURED_OVERLAP_MS = 86_400_000

/** The signing keys of notifications. */
export interface SigningKeys {
  /** Keys that sign now, the newest first. */
  of(notificationId: string): Promise<readonly string[]>
  /**
   * Makes a key the newest. Gives the time until which the one before signs, too.
   * @throws AppError 400 `not_supported` without a key to seal with
   */
  rotate(notificationId: string, key: string, overlapMs: number): Promise<Date | undefined>
  /** Takes over what is new in the configuration. */
  adopt(): Promise<void>
}

interface KeysDeps {
  readonly db: Kysely<Schema>
  /** Absent when the deployment has no STORAGE_ENCRYPTION_KEY: then nothing is stored, and the configuration's keys are all. */
  readonly sealer: Sealer | undefined
  /** The configuration's keys by notification. */
  readonly configured: ReadonlyMap<string, string>
}

/** The name that is sealed in, so that a stored key is no use to another notification. */
const ownerOf = (notificationId: string) => `notification ${notificationId}`

export function createSigningKeys({ db, sealer, configured }: KeysDeps): SigningKeys {
  if (sealer === undefined) return configuredOnly(configured)

  async function add(
    notificationId: string,
    key: string,
    how: { source: 'config' | 'api'; overlapMs: number },
  ) {
    const sealed = sealer?.seal(key, ownerOf(notificationId))
    if (sealed === undefined) return undefined
    return db.transaction().execute((tx) => addKey(tx, { notificationId, sealed, ...how }))
  }

  return {
    of: async (id) => (await keysInUse(db, id)).map(({ sealed }) => sealer.open(sealed, ownerOf(id))),
    rotate: (id, key, overlapMs) => add(id, key, { source: 'api', overlapMs }),
    adopt: async () => {
      for (const [id, key] of configured) {
        const last = await lastConfiguredKey(db, id)
        if (last !== undefined && sealer.open(last, ownerOf(id)) === key) continue
        await add(id, key, { source: 'config', overlapMs: CONFIGURED_OVERLAP_MS })
      }
    },
  }
}

function configuredOnly(configured: ReadonlyMap<string, string>): SigningKeys {
  return {
    of: async (id) => [configured.get(id)].filter((key) => key !== undefined),
    rotate: async () => {
      throw badRequest(
        'not_supported',
        'Signing keys can be changed here only when the deployment has a STORAGE_ENCRYPTION_KEY to store them with.',
      )
    },
    adopt: async () => {},
  }
}
