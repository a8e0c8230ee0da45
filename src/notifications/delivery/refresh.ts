import type { Db } from '../../database/schema.ts'
import { allNotifications } from '../store.ts'
import { readCursors, readStarts } from './outgoing-store.ts'
import { createReceiver, type Receiver } from './receiver/receiver.ts'
import type { TryDeps } from './try-delivery.ts'

type RefreshDeps = Pick<TryDeps, 'clock' | 'random'> & { readonly db: Db }

/** Brings receivers in line with the stored notifications. Returns the ids of those that are new, or another one under the same id. */
export async function refreshReceivers(
  deps: RefreshDeps,
  receivers: Map<string, Receiver>,
): Promise<Set<string>> {
  const notifications = await allNotifications(deps.db)
  const cursors = await readCursors(deps.db)
  const isNew = (id: string) => receivers.get(id)?.since !== cursors.get(id)?.createdAt.getTime()
  const added = new Set(notifications.flatMap(({ id }) => (isNew(id) ? id : [])))
  const starts = added.size === 0 ? undefined : await readStarts(deps.db, [...added])
  const present = new Set(notifications.map(({ id }) => id))
  for (const id of receivers.keys()) if (!present.has(id) || added.has(id)) receivers.delete(id)
  for (const notification of notifications) {
    const cursor = cursors.get(notification.id)
    const update = { notification, windowFrom: cursor?.windowFrom }
    const start = starts?.get(notification.id)
    if (start !== undefined && cursor !== undefined)
      receivers.set(
        notification.id,
        createReceiver(deps, { ...start, since: cursor.createdAt.getTime() }, update),
      )
    receivers.get(notification.id)?.update(update)
  }
  return added
}
