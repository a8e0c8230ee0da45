import type { Migration } from 'kysely/migration'
import * as initialSchema from './0001-initial-schema.ts'
import * as accounts from './0002-accounts.ts'
import * as plugins from './0003-plugins.ts'
import * as pluginHooks from './0004-plugin-hooks.ts'

/** All migrations in order. They are forward only: a released migration is never edited; the next one corrects it. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-initial-schema': initialSchema,
  '0002-accounts': accounts,
  '0003-plugins': plugins,
  '0004-plugin-hooks': pluginHooks,
}
