/**
 * Makes the file of which new embedded databases are unpacked (dist/initial-database.gz). Runs after `npm ci` and in `npm run build`,
 * and does nothing when the file is there and current.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  engineVersion,
  INITIAL_DATABASE,
  packDatabase,
  readInitialDatabase,
} from '../src/database/engines/initial-database.ts'
import { CREATION, createWithEngine } from '../src/database/engines/pglite.ts'

const madeBy = engineVersion(CREATION)
if (readInitialDatabase(INITIAL_DATABASE, madeBy) === undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'initial-database-'))
  try {
    await createWithEngine(join(folder, 'pglite'))
    packDatabase(join(folder, 'pglite'), { file: INITIAL_DATABASE, madeBy })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
