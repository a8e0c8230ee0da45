import { beginNotice } from '../alerts/alert.ts'
import { listAlerts } from '../alerts/alerts-store.ts'
import type { HandlerMap } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import { toPage } from './present/page.ts'

/** The parts of the service that these operations call. */
export interface AlertHandlerDeps {
  readonly db: Db
}

/** The operation that lists alerts. */
export function alertHandlers({ db }: AlertHandlerDeps): Pick<HandlerMap, 'listAlerts'> {
  return {
    listAlerts: async ({ query }, { principal: { visibility } }) => {
      const page = toPage(query)
      const { offset, limit } = page
      const { items, total } = await listAlerts(db, { visibility, offset, limit })
      return { data: items.map(beginNotice), pagination: page.describe(total) }
    },
  }
}
