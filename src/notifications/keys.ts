import type { Actor } from '../access/principal.ts'
import { appendManagement } from '../audit/append-store.ts'
import { CONFIGURATION } from '../audit/entry.ts'
import type { Db, Tx } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { AppError } from '../errors.ts'
import type { Sealer } from '../security/secrets.ts'
import { addKey, endKeys, type KeySource, keysInUse, lastConfiguredKey } from './keys-store.ts'
import type { Notification } from './notification.ts'
import { findNotification, lockNotification } from './store.ts'

/** Time in ms for which the previous key also signs after the configuration has a new one. */
const CONFIGURED_OVERLAP_MS = 86_400_000

/** A new signing key of a caller. */
interface RotatedKey {
  readonly text: string
  /** Time in ms for which the previous key also signs. */
  readonly overlapMs: number
}

/** The signing keys of notifications. */
export interface SigningKeys {
  /** Reads the keys that sign now, newest first. */
  of(notificationId: string): Promise<readonly string[]>
  /**
   * Adds the newest key, and records that in the audit log. Returns the time until which the previous key
   * also signs; undefined if there was none.
   * @throws AppError `notification_not_found`, or `not_supported` when the deployment has no
   * STORAGE_ENCRYPTION_KEY
   */
  rotate(notificationId: string, key: RotatedKey, actor: Actor): Promise<Date | undefined>
  /**
   * Makes it the only key of a notification that the database transaction has locked, or removes all keys
   * with `null`.
   * @throws AppError `not_supported` if the deployment has no STORAGE_ENCRYPTION_KEY, unless there is nothing
   * to do
   */
  replace(tx: Tx, notificationId: string, key: string | null): Promise<void>
  /** Stores the new keys of the configuration. Changes that callers made since then stay. */
  adopt(): Promise<void>
}

interface KeysDeps {
  readonly db: Db
  /**
   * Undefined without a STORAGE_ENCRYPTION_KEY. Then no key is stored, and only those of the configuration
   * sign.
   */
  readonly sealer: Sealer | undefined
  /** The keys of the configuration, by notification. */
  readonly configured: ReadonlyMap<string, string>
}

/** The owner name for sealing, so that a stored key cannot be opened for another notification. */
export const ownerOf = (notificationId: string) => `notification ${notificationId}`

/** Creates the signing keys; without a sealer, only those of the configuration. */
export function createSigningKeys({ db, sealer, configured }: KeysDeps): SigningKeys {
  if (sealer === undefined) return configuredOnly(configured)
  const { seal, open } = sealer

  async function add(tx: Tx, notificationId: string, key: NewKey) {
    const sealed = seal(key.text, ownerOf(notificationId))
    return addKey(tx, { notificationId, sealed, source: key.source, overlapMs: key.overlapMs })
  }

  /**
   * Returns true if the configuration had this key at an earlier start, and no change of the file activates
   * it again.
   */
  async function isAdopted(id: string, key: string, { hasSigningKey }: Notification): Promise<boolean> {
    const last = await lastConfiguredKey(db, id)
    if (last === undefined || open(last, ownerOf(id)) !== key) return false
    // If a caller removed the key and the entry of the file changed later, the key is activated again.
    return !hasSigningKey || (await keysInUse(db, id)).length > 0
  }

  return {
    of: async (id) => (await keysInUse(db, id)).map(({ sealed }) => open(sealed, ownerOf(id))),
    rotate: (id, { text, overlapMs }, actor) =>
      transact(db, async (tx) => {
        if ((await lockNotification(tx, id)) === undefined)
          throw new AppError('notification_not_found', `There is no notification ${id}.`)
        const expires = await add(tx, id, { text, source: 'api', overlapMs })
        const target = { type: 'notification', id } as const
        const after = { previous_key_expires_at: expires }
        await appendManagement(tx, { author: actor, action: 'rotateSigningKey', target, after })
        return expires
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
        await transact(db, async (tx) => {
          const expires = await add(tx, id, key)
          const target = { type: 'notification', id } as const
          const after = { signing_key: 'rotated', previous_key_expires_at: expires }
          await appendManagement(tx, { author: CONFIGURATION, action: 'applyConfiguration', target, after })
        })
      }
    },
  }
}

interface NewKey extends RotatedKey {
  readonly source: KeySource
}

function configuredOnly(configured: ReadonlyMap<string, string>): SigningKeys {
  const refuse = () => {
    throw new AppError(
      'not_supported',
      'Signing keys can only be changed over the API if the deployment has a STORAGE_ENCRYPTION_KEY.',
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
