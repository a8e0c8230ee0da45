import { type Selectable, sql } from 'kysely'
import { ALL_RELAYERS, seesEverything, type Visibility } from '../access/principal.ts'
import { usedByVisibleRelayer } from '../access/visibility-store.ts'
import type { Db, Tx } from '../database/db.ts'
import type { NotificationsTable } from '../database/tables/relayers.ts'
import type {
  AlertKind,
  NamedTransactions,
  Notification,
  NotificationType,
  PauseReason,
} from './notification.ts'

/** Lists the visible notifications in the order of creation, then id. `total` counts all of them. */
export async function listNotifications(
  db: Db,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  visibility = ALL_RELAYERS,
): Promise<{ items: Notification[]; total: number }> {
  const listed = visible(db, visibility)
  const [rows, { total }] = await Promise.all([
    listed.selectAll().orderBy('created_at').orderBy('id').offset(offset).limit(limit).execute(),
    listed.select((eb) => eb.fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { items: rows.map(toNotification), total: Number(total) }
}

/** A key that is limited to some relayers sees the notifications that they use. */
function visible(db: Db, visibility: Visibility) {
  const all = db.selectFrom('notifications')
  return seesEverything(visibility) ? all : all.where(usedByVisibleRelayer(visibility, 'notifications.id'))
}

/** Finds a notification; undefined if none that is visible has this id. */
export async function findNotification(
  db: Db,
  id: string,
  visibility = ALL_RELAYERS,
): Promise<Notification | undefined> {
  const row = await visible(db, visibility).selectAll().where('id', '=', id).executeTakeFirst()
  return row && toNotification(row)
}

/**
 * Returns the type of a notification, and locks it against deletion until the commit; undefined if none has
 * this id. Use it before storing a reference.
 */
export async function holdNotification(tx: Tx, id: string): Promise<NotificationType | undefined> {
  const row = await tx
    .selectFrom('notifications')
    .select('type')
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst()
  return row?.type as NotificationType | undefined
}

/** The contract, or the reader of the file, has checked the names. */
function toKinds(alerts: readonly string[] | null): readonly AlertKind[] | undefined {
  return (alerts ?? undefined) as readonly AlertKind[] | undefined
}

/** Reads all notifications. */
export async function allNotifications(db: Db): Promise<Notification[]> {
  const rows = await db.selectFrom('notifications').selectAll().orderBy('id').execute()
  return rows.map(toNotification)
}

/** Locks all notifications until the commit, and returns the fields that the configuration defines, by id. */
export async function lockNotifications(tx: Tx): Promise<Map<string, Notification>> {
  const rows = await tx.selectFrom('notifications').selectAll().orderBy('id').forNoKeyUpdate().execute()
  return new Map(
    rows.map((row) => {
      const { paused, urlUntrusted, ...configured } = toNotification(row)
      return [row.id, configured]
    }),
  )
}

/** Takes the named transactions from these notifications, so that others can have them. */
export async function clearTransactions(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx
    .updateTable('notifications')
    .set({ reference: null, requested_by: null })
    .where('id', 'in', ids)
    .execute()
}

/** Creates or overwrites a notification. A pause stays, unless the receiver was gone and has a new url. */
export async function saveNotification(tx: Tx, notification: Notification): Promise<void> {
  const { id, type, url, alerts, transactions, hasSigningKey, urlUntrusted = false } = notification
  // The database cannot compare urls, because they may be sealed.
  const before = await lockNotification(tx, id)
  const isMoved = before?.paused === 'gone' && before.url !== url
  const kinds = alerts ? JSON.stringify(alerts) : null
  const values = { type, url, url_untrusted: urlUntrusted, alerts: kinds, ...columnsOf(transactions) }
  // A key from a caller stays in use, because receivers rely on it.
  const keyOfCaller = sql<boolean>`exists (select from notification_keys k
    where k.notification_id = notifications.id and k.source = 'api' and k.expires_at is null)`
  await tx
    .insertInto('notifications')
    .values({ id, ...values, has_signing_key: hasSigningKey })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({
        ...values,
        has_signing_key: sql<boolean>`excluded.has_signing_key or ${keyOfCaller}`,
        ...(isMoved && { paused: false, paused_reason: null }),
      }),
    )
    .execute()
}

/**
 * Finds a notification and locks it until the commit; undefined if none has this id. Deliveries can be stored
 * meanwhile, and references to it cannot (`database/locks/lock-order.md`).
 */
export async function lockNotification(tx: Tx, id: string): Promise<Notification | undefined> {
  const row = await tx
    .selectFrom('notifications')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row && toNotification(row)
}

/**
 * Like `lockNotification`, and waits for references that are being stored. The cursor is locked before it, as
 * by those who record deliveries (`database/locks/lock-order.md`).
 */
export async function lockForDeletion(tx: Tx, id: string): Promise<Notification | undefined> {
  // The server looks for references when the row is deleted, and a start that has locked all relayers waits
  // for the row.
  await sql`lock table relayers in row share mode`.execute(tx)
  await tx
    .selectFrom('delivery_cursors')
    .select('notification_id')
    .where('notification_id', '=', id)
    .forUpdate()
    .execute()
  const row = await tx
    .selectFrom('notifications')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row && toNotification(row)
}

/**
 * Stores a notification of a caller. Returns false, and stores nothing, when the id is in use. Ids of the
 * configuration file stay in use even after a caller deleted the notification: its keys in the file would
 * otherwise be used for the notification of the caller.
 */
export async function insertNotification(
  tx: Tx,
  {
    id,
    type,
    url,
    alerts,
    transactions,
  }: Pick<Notification, 'id' | 'type' | 'url' | 'alerts' | 'transactions'>,
): Promise<boolean> {
  const entry = await tx
    .selectFrom('file_entries')
    .select('id')
    .where('kind', '=', 'notification')
    .where('id', '=', id)
    .executeTakeFirst()
  if (entry !== undefined) return false
  const inserted = await tx
    .insertInto('notifications')
    .values({
      id,
      type,
      url,
      has_signing_key: false,
      url_untrusted: true,
      alerts: alerts ? JSON.stringify(alerts) : null,
      ...columnsOf(transactions),
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Pauses a notification with a reason, or resumes it with `null`. */
export async function setPaused(db: Db, id: string, reason: PauseReason | null): Promise<void> {
  await db
    .updateTable('notifications')
    .set({ paused: reason !== null, paused_reason: reason })
    .where('id', '=', id)
    .execute()
}

/**
 * Pauses a notification because the receiver at this url is gone. Does nothing if the notification has
 * another url by now.
 */
export async function pauseGone(tx: Tx, id: string, url: string): Promise<void> {
  const present = await lockNotification(tx, id)
  if (present?.url !== url) return
  await tx
    .updateTable('notifications')
    .set({ paused: true, paused_reason: 'gone' })
    .where('id', '=', id)
    .execute()
}

/** Deletes a notification with its keys and deliveries. No relayer may refer to it. */
export async function deleteNotification(tx: Tx, id: string): Promise<void> {
  // The cursor goes first: recording deliveries locks its row, so none is recorded after they are deleted.
  await tx.deleteFrom('notifications').where('id', '=', id).execute()
  await tx.deleteFrom('deliveries').where('notification_id', '=', id).execute()
}

function columnsOf(transactions: NamedTransactions | undefined) {
  return { reference: transactions?.reference ?? null, requested_by: transactions?.requestedBy ?? null }
}

function toNotification(row: Selectable<NotificationsTable>): Notification {
  const alerts = toKinds(row.alerts)
  return {
    id: row.id,
    type: row.type as NotificationType,
    url: row.url,
    ...(alerts && { alerts }),
    ...(row.reference !== null &&
      row.requested_by !== null && {
        transactions: { reference: row.reference, requestedBy: row.requested_by },
      }),
    hasSigningKey: row.has_signing_key,
    ...(row.url_untrusted && { urlUntrusted: true as const }),
    ...(row.paused && { paused: row.paused_reason as PauseReason }),
  }
}
