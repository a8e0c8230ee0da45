/**
 * Makes the files that spare the service time at its start: those of a new embedded database (dist/initial-database.gz) and the contract
 * as JSON (dist/openapi.json). Runs after `npm ci` and in `npm run build`, and makes nothing that is there and current.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseYaml } from '../src/contract/document.ts'
import { stringifyJson } from '../src/contract/exact-integers.ts'
import { readPreparedJson, writePreparedJson } from '../src/contract/prepared-json.ts'
import {
  engineVersion,
  INITIAL_DATABASE,
  packDatabase,
  readInitialDatabase,
} from '../src/database/engines/initial-database.ts'
import { CREATION, createWithEngine } from '../src/database/engines/pglite.ts'

async function prepareDatabase(): Promise<void> {
  const madeBy = engineVersion(CREATION)
  if (readInitialDatabase(INITIAL_DATABASE, madeBy) !== undefined) return
  const folder = mkdtempSync(join(tmpdir(), 'initial-database-'))
  try {
    await createWithEngine(join(folder, 'pglite'))
    packDatabase(join(folder, 'pglite'), { file: INITIAL_DATABASE, madeBy })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function prepareContract(): void {
  const yaml = readFileSync(join(import.meta.dirname, '../openapi.yaml'), 'utf8')
  if (readPreparedJson(yaml) === undefined) writePreparedJson({ yaml, json: stringifyJson(parseYaml(yaml)) })
}

prepareContract()
await prepareDatabase()
