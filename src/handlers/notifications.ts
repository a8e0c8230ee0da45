import type { Kysely } from 'kysely'
import type { HandlerMap, Schemas } from '../contract/operations.ts'
import type { Schema } from '../database/schema.ts'
import { defined } from '../defined.ts'
import type { Notification } from '../notifications/notification.ts'
import { listNotifications } from '../notifications/store.ts'
import { toPage } from './page.ts'

/** The tag Notifications. */
export function notificationHandlers({ db }: { db: Kysely<Schema> }): Pick<HandlerMap, 'listNotifications'> {
  return {
    listNotifications: async ({ query }) => {
      const page = toPage(query)
      const { items, total } = await listNotifications(db, page)
      return { data: items.map(presentNotification), pagination: page.describe(total) }
    },
  }
}

/** A notification as the contract shows it. */
export function presentNotification({
  id,
  type,
  url,
  hasSigningKey,
  paused,
}: Notification): Schemas['Notification'] {
  const state = paused === undefined ? {} : { paused: true as const, paused_reason: paused }
  return defined({ id, type, url, has_signing_key: hasSigningKey, ...state })
}
