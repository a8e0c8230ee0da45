import { type Kysely, sql } from 'kysely'
import { ACCESS } from './initial-schema/access.ts'
import { EVENTS } from './initial-schema/events.ts'
import { NOTIFICATIONS } from './initial-schema/notifications.ts'
import { PLUGINS } from './initial-schema/plugins.ts'
import { RELAYERS } from './initial-schema/relayers.ts'
import { SCHEDULES } from './initial-schema/schedules.ts'
import { SPENDING } from './initial-schema/spending.ts'
import { TRANSACTIONS } from './initial-schema/transactions.ts'

/**
 * Creates the schema, each story after those whose tables it refers to. `database/tables` gives the columns
 * the types that the program sees, which later migrations change with it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    ...EVENTS,
    ...NOTIFICATIONS,
    ...RELAYERS,
    ...TRANSACTIONS,
    ...SCHEDULES,
    ...SPENDING,
    ...ACCESS,
    ...PLUGINS,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
