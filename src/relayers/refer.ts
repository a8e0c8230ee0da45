import type { Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import { holdNotification } from '../notifications/store.ts'

/**
 * Makes sure that the notification is there until the commit.
 * @throws AppError 404 `notification_not_found`
 */
export async function referTo(tx: Transaction<Schema>, notificationId: string | undefined): Promise<void> {
  if (notificationId === undefined || (await holdNotification(tx, notificationId))) return
  throw new AppError(
    'notification_not_found',
    `notification_id: there is no notification "${notificationId}".`,
  )
}
