import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const MIGRATIONS = join(import.meta.dirname, '../../migrations')

/**
 * Identifies the migrations by the hash of their texts, because one that is not released yet may change under
 * its name. A build replaces this file by the hash (scripts/prepare/program.ts), since the built program has
 * no such files.
 */
export function migrationsVersion(folder = MIGRATIONS): string {
  const hash = createHash('sha256')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  for (const name of files.sort()) hash.update(readFileSync(join(folder, name)))
  return hash.digest('hex')
}
