import type { Migration } from 'kysely/migration'
import * as initialSchema from './0001-initial-schema.ts'
import * as accounts from './0002-accounts.ts'
import * as processes from './0003-processes.ts'
import * as largeHistories from './0004-large-histories.ts'
import * as plugins from './0005-plugins.ts'
import * as pluginHooks from './0006-plugin-hooks.ts'
import * as sponsoredQuotes from './0007-sponsored-quotes.ts'
import * as cannotAct from './0008-cannot-act.ts'
import * as idempotencyKeysOfApiKeys from './0009-idempotency-keys-of-api-keys.ts'
import * as decisions from './0010-decisions.ts'

/** All migrations in order. They are forward only: a released migration is never edited; the next one corrects it. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-initial-schema': initialSchema,
  '0002-accounts': accounts,
  '0003-processes': processes,
  '0004-large-histories': largeHistories,
  '0005-plugins': plugins,
  '0006-plugin-hooks': pluginHooks,
  '0007-sponsored-quotes': sponsoredQuotes,
  '0008-cannot-act': cannotAct,
  '0009-idempotency-keys-of-api-keys': idempotencyKeysOfApiKeys,
  '0010-decisions': decisions,
}
