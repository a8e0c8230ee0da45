import { sql } from 'kysely'
import type { Db } from '../database/schema.ts'
import type { AlertNotice } from './alert-notice.ts'

/** Reads what events of the type `alert` tell, by the number of the event. */
export async function readAlertNotices(
  db: Db,
  eventNumbers: readonly bigint[],
): Promise<Map<bigint, AlertNotice>> {
  if (eventNumbers.length === 0) return new Map()
  const rows = await db
    .selectFrom('events')
    .select(['number', 'payload'])
    .where(sql<boolean>`number = any(${eventNumbers}::bigint[])`)
    .execute()
  // The service wrote the payload itself.
  return new Map(rows.map(({ number, payload }) => [number, payload as AlertNotice]))
}
