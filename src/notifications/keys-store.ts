import { sql } from 'kysely'
import type { Db, Tx } from '../database/db.ts'

/** The source of a key. A key from the API stays in use until the key in the configuration file changes. */
export type KeySource = 'config' | 'api'

/** A stored signing key. */
export interface SealedKey {
  readonly source: KeySource
  readonly sealed: Uint8Array
}

/** Reads the keys that sign at this time, newest first. */
export async function keysInUse(db: Db, notificationId: string): Promise<SealedKey[]> {
  const rows = await db
    .selectFrom('notification_keys')
    .select(['source', 'sealed'])
    .where('notification_id', '=', notificationId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', sql<Date>`now()`)]))
    .orderBy('id', 'desc')
    .execute()
  return rows.map(({ source, sealed }) => ({ source: source as KeySource, sealed }))
}

/** Reads the newest key that came from the configuration, in use or not. */
export async function lastConfiguredKey(db: Db, notificationId: string): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('notification_keys')
    .select('sealed')
    .where('notification_id', '=', notificationId)
    .where('source', '=', 'config')
    .orderBy('id', 'desc')
    .executeTakeFirst()
  return row?.sealed
}

/**
 * Ends all keys. The newest one from the configuration is kept, so that the next start does not treat it as
 * new.
 */
export async function endKeys(tx: Tx, notificationId: string): Promise<void> {
  await sql`
    update notification_keys set expires_at = now()
    where notification_id = ${notificationId} and (expires_at is null or expires_at > now())`.execute(tx)
  await tx
    .updateTable('notifications')
    .set({ has_signing_key: false })
    .where('id', '=', notificationId)
    .execute()
  await deleteExpired(tx, notificationId)
}

async function deleteExpired(tx: Tx, notificationId: string): Promise<void> {
  await sql`
    delete from notification_keys k where notification_id = ${notificationId} and expires_at <= now()
      and not (source = 'config' and id = (
        select max(id) from notification_keys where notification_id = k.notification_id and source = 'config'))`.execute(
    tx,
  )
}

/** Seals every signing key again, in use or not. */
export async function resealKeys(
  tx: Tx,
  reseal: (sealed: Uint8Array, notificationId: string) => Uint8Array,
): Promise<number> {
  // The order of locks: database/locks/lock-order.md.
  const rows = await tx
    .selectFrom('notification_keys')
    .select(['id', 'notification_id', 'sealed'])
    .forUpdate()
    .execute()
  for (const { id, notification_id, sealed } of rows)
    await tx
      .updateTable('notification_keys')
      .set({ sealed: reseal(sealed, notification_id) })
      .where('id', '=', id)
      .execute()
  return rows.length
}

interface NewKey extends SealedKey {
  readonly notificationId: string
  readonly overlapMs: number
}

/**
 * Adds the newest key of a notification that the database transaction has locked. The previous key also signs
 * until the overlap ends; older ones stop. Returns the end of the overlap; undefined if there was no previous
 * key. Expired keys are deleted, except the newest one from the configuration.
 */
export async function addKey(tx: Tx, key: NewKey): Promise<Date | undefined> {
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
  await deleteExpired(tx, notificationId)
  return rows[0]?.expires_at
}
