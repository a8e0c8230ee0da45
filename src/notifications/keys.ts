import type { Kysely, Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import type { Sealer } from '../security/sealer.ts'
import { addKey, endKeys, type KeySource, keysInUse, lastConfiguredKey } from './keys-store.ts'
import type { Notification } from './notification.ts'
import { findNotification, lockNotification } from './store.ts'

/** How long the key before goes on signing when the configuration brings a new one, in ms. */
const CONFIGURED_OVERLAP_MS = 86_400_000

/** The signing keys of notifications. */
export interface SigningKeys {
  /** Keys that sign now, the newest first. */
  of(notificationId: string): Promise<readonly string[]>
  /**
   * Makes a key the newest. Gives the time until which the one before signs, too.
   * @throws AppError 404 when there is no such notification; 400 `not_supported` without a key to seal with
   */
  rotate(notificationId: string, key: string, overlapMs: number): Promise<Date | undefined>
  /**
   * Makes it the only key, or leaves none with null, of a notification that the database transaction holds.
   * @throws AppError 400 `not_supported` without a key to seal with, unless there is nothing to do
   */
  replace(tx: Transaction<Schema>, notificationId: string, key: string | null): Promise<void>
  /** Takes over what is new in the configuration. What callers made of a notification since stays. */
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
  const { seal, open } = sealer

  async function add(tx: Transaction<Schema>, notificationId: string, key: NewKey) {
    const sealed = seal(key.text, ownerOf(notificationId))
    return addKey(tx, { notificationId, sealed, source: key.source, overlapMs: key.overlapMs })
  }

  /** True when the configuration's key is the one that it had at an earlier start, and nobody asks for it anew. */
  async function isAdopted(id: string, key: string, { hasSigningKey }: Notification): Promise<boolean> {
    const last = await lastConfiguredKey(db, id)
    if (last === undefined || open(last, ownerOf(id)) !== key) return false
    // A changed entry of the file gave the notification its key back, and a caller had ended it.
    return !hasSigningKey || (await keysInUse(db, id)).length > 0
  }

  return {
    of: async (id) => (await keysInUse(db, id)).map(({ sealed }) => open(sealed, ownerOf(id))),
    rotate: (id, text, overlapMs) =>
      db.transaction().execute(async (tx) => {
        if ((await lockNotification(tx, id)) === undefined)
          throw new AppError('notification_not_found', `There is no notification ${id}.`)
        return add(tx, id, { text, source: 'api', overlapMs })
      }),
    replace: async (tx, id, text) => {
      await endKeys(tx, id)
      if (text !== null) await add(tx, id, { text, source: 'api', overlapMs: 0 })
    },
    adopt: async () => {
      for (const [id, text] of configured) {
        const notification = await findNotification(db, id)
        if (notification === undefined || (await isAdopted(id, text, notification))) continue
        const key: NewKey = { text, source: 'config', overlapMs: CONFIGURED_OVERLAP_MS }
        await db.transaction().execute((tx) => add(tx, id, key))
      }
    },
  }
}

interface NewKey {
  readonly text: string
  readonly source: KeySource
  /** How long the one before signs beside it, in ms. */
  readonly overlapMs: number
}

function configuredOnly(configured: ReadonlyMap<string, string>): SigningKeys {
  const refuse = () => {
    throw new AppError(
      'not_supported',
      'Signing keys can be changed here only when the deployment has a STORAGE_ENCRYPTION_KEY to store them with.',
    )
  }
  return {
    of: async (id) => [configured.get(id)].filter((key) => key !== undefined),
    rotate: async () => refuse(),
    replace: async (_tx, id, key) => {
      if (key !== null || configured.has(id)) refuse()
    },
    adopt: async () => {},
  }
}
