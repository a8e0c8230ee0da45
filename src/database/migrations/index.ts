import type { Migration } from 'kysely/migration'
import * as initialSchema from './0001-initial-schema.ts'

/** All migrations in order. They are forward only: a released migration is never edited; the next one corrects it. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-initial-schema': initialSchema,
}
