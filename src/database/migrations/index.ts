import type { Migration } from 'kysely/migration'
import * as firstRelease from './0001-first-release.ts'

/**
 * All migrations in order. They are forward only: a released migration is never edited; the next one corrects
 * it.
 */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-first-release': firstRelease,
}
