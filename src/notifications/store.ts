import type { Kysely, Selectable, Transaction } from 'kysely'
import type { NotificationsTable, Schema } from '../database/schema.ts'
import type { Notification } from './notification.ts'

/** Notifications in order of creation, then id. `total` counts all of them, whatever the range. */
export async function listNotifications(
  db: Kysely<Schema>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ items: Notification[]; total: number }> {
  const [rows, { total }] = await Promise.all([
    db
      .selectFrom('notifications')
      .selectAll()
      .orderBy('created_at')
      .orderBy('id')
      .offset(offset)
      .limit(limit)
      .execute(),
    db
      .selectFrom('notifications')
      .select((eb) => eb.fn.countAll<bigint>().as('total'))
      .executeTakeFirstOrThrow(),
  ])
  return { items: rows.map(toNotification), total: Number(total) }
}

/** Every notification, held against other changes until the commit. */
export async function lockNotifications(tx: Transaction<Schema>): Promise<Map<string, Notification>> {
  const rows = await tx.selectFrom('notifications').selectAll().forUpdate().execute()
  return new Map(rows.map((row) => [row.id, toNotification(row)]))
}

/** Creates or overwrites a notification. */
export async function saveNotification(tx: Transaction<Schema>, notification: Notification): Promise<void> {
  const { id, type, url, hasSigningKey } = notification
  const values = { type, url, has_signing_key: hasSigningKey }
  await tx
    .insertInto('notifications')
    .values({ id, ...values })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
    .execute()
}

/** Deletes a notification that no relayer refers to. */
export async function deleteNotification(tx: Transaction<Schema>, id: string): Promise<void> {
  await tx.deleteFrom('notifications').where('id', '=', id).execute()
}

function toNotification(row: Selectable<NotificationsTable>): Notification {
  return { id: row.id, type: row.type as 'webhook', url: row.url, hasSigningKey: row.has_signing_key }
}
