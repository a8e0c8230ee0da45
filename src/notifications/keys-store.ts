import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'

/** Where a key came from: changed in the file, it counts again; unchanged, one that came by the API since stays. */
export type KeySource = 'config' | 'api'

export interface SealedKey {
  readonly source: KeySource
  readonly sealed: Uint8Array
}

/** The keys that sign at this time, the newest first. */
export async function keysInUse(db: Kysely<Schema>, notificationId: string): Promise<SealedKey[]> {
  const rows = await db
    .selectFrom('notification_keys')
    .select(['source', 'sealed'])
    .where('notification_id', '=', notificationId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', sql<Date>`now()`)]))
    .orderBy('id', 'desc')
    .execute()
  return rows.map(({ source, sealed }) => ({ source: source as KeySource, sealed }))
}

/** The last key that the configuration brought, in use or not. */
export async function lastConfiguredKey(
  db: Kysely<Schema>,
  notificationId: string,
): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('notification_keys')
    .select('sealed')
    .where('notification_id', '=', notificationId)
    .where('source', '=', 'config')
    .orderBy('id', 'desc')
    .executeTakeFirst()
  return row?.sealed
}

/** From now on no key signs. The configuration's last one is kept, so that it is not taken for a new one. */
export async function endKeys(tx: Transaction<Schema>, notificationId: string): Promise<void> {
  await sql`
    update notification_keys set expires_at = now()
    where notification_id = ${notificationId} and (expires_at is null or expires_at > now())`.execute(tx)
  await tx
    .updateTable('notifications')
    .set({ has_signing_key: false })
    .where('id', '=', notificationId)
    .execute()
  await deleteUseless(tx, notificationId)
}

async function deleteUseless(tx: Transaction<Schema>, notificationId: string): Promise<void> {
  await sql`
    delete from notification_keys k where notification_id = ${notificationId} and expires_at <= now()
      and not (source = 'config' and id = (
        select max(id) from notification_keys where notification_id = k.notification_id and source = 'config'))`.execute(
    tx,
  )
}

interface NewKey extends SealedKey {
  readonly notificationId: string
  readonly overlapMs: number
}

/**
 * Makes a key the newest one of a notification that the database transaction holds; the one before signs beside it until the overlap
 * is over, older ones no longer. Tells when that is, undefined when there was none. Keys that are no use to anybody are deleted, but for the configuration's last.
 */
export async function addKey(tx: Transaction<Schema>, key: NewKey): Promise<Date | undefined> {
  const { notificationId, source, sealed, overlapMs } = key
  await sql`
    update notification_keys set expires_at = now()
    where notification_id = ${notificationId} and expires_at > now()`.execute(tx)
  const { rows } = await sql<{ expires_at: Date }>`
    update notification_keys set expires_at = now() + ${overlapMs}::float8 * interval '1 millisecond'
    where notification_id = ${notificationId} and expires_at is null
    returning expires_at`.execute(tx)
  await tx
    .insertInto('notification_keys')
    .values({ notification_id: notificationId, source, sealed })
    .execute()
  await tx
    .updateTable('notifications')
    .set({ has_signing_key: true })
    .where('id', '=', notificationId)
    .execute()
  await deleteUseless(tx, notificationId)
  return rows[0]?.expires_at
}
