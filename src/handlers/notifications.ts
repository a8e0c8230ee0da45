import type { Kysely } from 'kysely'
import type { HandlerMap } from '../contract/operations.ts'
import type { Schema } from '../database/schema.ts'
import { listNotifications } from '../notifications/store.ts'
import { toPage } from './page.ts'

/** The tag Notifications. */
export function notificationHandlers({ db }: { db: Kysely<Schema> }): Pick<HandlerMap, 'listNotifications'> {
  return {
    listNotifications: async ({ query }) => {
      const page = toPage(query)
      const { items, total } = await listNotifications(db, page)
      const data = items.map(({ id, type, url, hasSigningKey }) => ({
        id,
        type,
        url,
        has_signing_key: hasSigningKey,
      }))
      return { data, pagination: page.describe(total) }
    },
  }
}
