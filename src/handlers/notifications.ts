import type { Visibility } from '../access/visibility.ts'
import type { HandlerMap, Schemas } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'
import type { NotificationManager } from '../notifications/manage.ts'
import { maskWebhookUrl } from '../notifications/mask-webhook-url.ts'
import type { Notification } from '../notifications/notification.ts'
import { findNotification, listNotifications } from '../notifications/store.ts'
import { toPage } from './present/page.ts'

/** The parts of the service that these operations call. */
export interface NotificationHandlerDeps {
  readonly db: Db
  readonly notifications: NotificationManager
}

type Operations =
  | 'listNotifications'
  | 'createNotification'
  | 'getNotification'
  | 'updateNotification'
  | 'deleteNotification'

/** The operations of the tag Notifications. */
export function notificationHandlers({
  db,
  notifications,
}: NotificationHandlerDeps): Pick<HandlerMap, Operations> {
  return {
    listNotifications: async ({ query }, { principal }) => {
      const page = toPage(query)
      const { items, total } = await listNotifications(db, page, principal.visibility)
      return { data: items.map(presentNotification), pagination: page.describe(total) }
    },
    createNotification: async ({ body: { id, url, signing_key: signingKey } }, { actor }) => ({
      data: presentNotification(await notifications.create({ id, url, signingKey }, actor)),
    }),
    getNotification: async ({ path }, { principal }) => ({
      data: presentNotification(await requireNotification(db, path.notification_id, principal.visibility)),
    }),
    updateNotification: async ({ path, body: { url, signing_key: signingKey } }, { actor }) => {
      const patch = { url, signingKey: signingKey === '' ? null : signingKey }
      return { data: presentNotification(await notifications.update(path.notification_id, patch, actor)) }
    },
    deleteNotification: async ({ path }, { actor }) => {
      await notifications.delete(path.notification_id, actor)
      return { data: 'Notification deleted successfully' }
    },
  }
}

/** @throws AppError 404 `notification_not_found` */
export async function requireNotification(
  db: Db,
  id: string,
  visibility?: Visibility,
): Promise<Notification> {
  const notification = await findNotification(db, id, visibility)
  if (notification === undefined)
    throw new AppError('notification_not_found', `There is no notification ${id}.`)
  return notification
}

/** Converts a notification to the form of the contract. */
export function presentNotification(notification: Notification): Schemas['Notification'] {
  const { id, type, hasSigningKey, paused } = notification
  const url = maskWebhookUrl(notification)
  const state = paused === undefined ? {} : { paused: true as const, paused_reason: paused }
  return omitUndefined({ id, type, url, has_signing_key: hasSigningKey, ...state })
}
