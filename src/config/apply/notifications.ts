import type { Tx } from '../../database/schema.ts'
import type { Notification, NotificationConfig } from '../../notifications/notification.ts'
import { deleteNotification, lockNotifications, saveNotification } from '../../notifications/store.ts'
import { relayersTelling } from '../../relayers/store.ts'
import { type ConfigChange, fieldChanges } from './changes.ts'
import { compareEntries } from './compare.ts'
import { readEntries, writeEntries } from './entries-store.ts'
import { refuseUsed } from './refuse-used.ts'

/** Saves the notifications whose entries changed, and returns those that the file no longer has. */
export async function applyNotifications(
  tx: Tx,
  configured: readonly NotificationConfig[],
): Promise<{ changes: ConfigChange[]; gone: readonly string[] }> {
  const stored = await lockNotifications(tx)
  const wanted = configured.map(
    ({ signingKey, ...rest }): Notification => ({ ...rest, hasSigningKey: signingKey !== undefined }),
  )
  const { changed, gone, entries } = compareEntries(wanted, await readEntries(tx, 'notification'))
  const changes: ConfigChange[] = []
  for (const next of changed) {
    const before = stored.get(next.id)
    const fields = before ? fieldChanges(before, next) : []
    await saveNotification(tx, next)
    if (before && fields.length === 0) continue
    changes.push({ kind: before ? 'updated' : 'created', what: 'notification', id: next.id, fields })
  }
  await writeEntries(tx, 'notification', entries)
  return { changes, gone: gone.filter((id) => stored.has(id)) }
}

/**
 * Deletes notifications that the file no longer has. Call it after the file's relayers have stopped referring to them.
 * @throws ConfigError when relayers that callers created still do
 */
export async function removeNotifications(tx: Tx, ids: readonly string[]): Promise<ConfigChange[]> {
  await refuseUsed(ids, { what: 'notification', usersOf: (id) => relayersTelling(tx, id) })
  for (const id of ids) await deleteNotification(tx, id)
  return ids.map((id) => ({ kind: 'removed', what: 'notification', id, fields: [] }))
}
