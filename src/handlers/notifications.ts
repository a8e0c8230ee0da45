import type { Kysely } from 'kysely'
import type { HandlerMap, Schemas } from '../contract/operations.ts'
import type { Schema } from '../database/schema.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'
import type { NotificationManager } from '../notifications/manage.ts'
import { maskWebhookUrl } from '../notifications/mask-webhook-url.ts'
import type { Notification } from '../notifications/notification.ts'
import { listNotifications } from '../notifications/store.ts'
import { toPage } from './present/page.ts'

/** The parts of the service that these operations call. */
export interface NotificationHandlerDeps {
  readonly db: Kysely<Schema>
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
    listNotifications: async ({ query }) => {
      const page = toPage(query)
      const { items, total } = await listNotifications(db, page)
      return { data: items.map(presentNotification), pagination: page.describe(total) }
    },
    createNotification: async ({ body: { id, url, signing_key: signingKey } }, { actor }) => ({
      data: presentNotification(await notifications.create({ id, url, signingKey }, actor)),
    }),
    getNotification: async ({ path }) => ({
      data: presentNotification(await notifications.get(path.notification_id)),
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

/** Converts a notification to the form of the contract. */
export function presentNotification(notification: Notification): Schemas['Notification'] {
  const { id, type, hasSigningKey, paused } = notification
  const url = maskWebhookUrl(notification)
  const state = paused === undefined ? {} : { paused: true as const, paused_reason: paused }
  return omitUndefined({ id, type, url, has_signing_key: hasSigningKey, ...state })
}
