/**
 * `npm run build`: makes `dist`. The program in a few files (main.js), the files of a new embedded database
 * (initial-database.gz) and the contract as JSON (openapi.json) spare the service time at its start; redoc.js
 * is the program of the reference page, console the console, and guides the documents as pages. `dist` of the
 * client lets programs of this repository import it. `npm ci` runs this, too. It makes nothing that is there
 * and current. A package that the installation leaves out is no error here.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseYaml, readPreparedJson, writePreparedJson } from '../src/contract/document.ts'
import { stringifyJson } from '../src/contract/exact-integers.ts'
import {
  INITIAL_DATABASE,
  initialVersion,
  packDatabase,
  readInitialDatabase,
} from '../src/database/engines/embedded/initial-database.ts'
import { REFERENCE_PROGRAM } from '../src/http/pages/reference.ts'
import { isMissingPackage, PACKAGE_ROOT } from '../src/lib/package-files.ts'
import { prepareClient } from './prepare/client.ts'
import { prepareConsole } from './prepare/console.ts'
import { prepareGuides } from './prepare/guides.ts'
import { prepareProgram } from './prepare/program.ts'
import { reproducibly } from './prepare/reproducible.ts'

async function prepareDatabase(): Promise<void> {
  const { makeDatabase } = await import('../src/database/engines/embedded/make-database.ts')
  const madeBy = initialVersion()
  if (readInitialDatabase(INITIAL_DATABASE, madeBy) !== undefined) return
  const dataDir = mkdtempSync(join(tmpdir(), 'initial-database-'))
  try {
    await reproducibly(() => makeDatabase(dataDir))
    packDatabase(join(dataDir, 'pglite'), { file: INITIAL_DATABASE, madeBy })
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

async function prepareContract(): Promise<void> {
  const yaml = readFileSync(join(PACKAGE_ROOT, 'openapi.yaml'), 'utf8')
  if (readPreparedJson(yaml) !== undefined) return
  writePreparedJson({ yaml, json: stringifyJson(await parseYaml(yaml)) })
}

/** The licence of the program, and of what is bundled in it, goes with it. */
function prepareReferencePage(): void {
  const bundle = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js')
  copyFileSync(`${bundle}.LICENSE.txt`, `${REFERENCE_PROGRAM}.LICENSE.txt`)
  copyFileSync(bundle, REFERENCE_PROGRAM)
}

/**
 * Does a step whose package may be left out: redoc and rolldown by `--omit=dev`, the embedded database by
 * `--omit=optional`.
 */
async function unlessOmitted(name: string, step: () => void | Promise<void>): Promise<void> {
  try {
    await step()
  } catch (error) {
    if (!isMissingPackage(error, name)) throw error
    console.log(`prepare: ${name} is not installed, so what needs it in dist is not made.`)
  }
}

prepareClient(PACKAGE_ROOT)
await prepareContract()
await unlessOmitted('redoc', prepareReferencePage)
await unlessOmitted('rolldown', () => prepareProgram(PACKAGE_ROOT))
await unlessOmitted('rolldown', () => prepareConsole(PACKAGE_ROOT))
await unlessOmitted('marked', () => prepareGuides(PACKAGE_ROOT))
await unlessOmitted('@electric-sql/pglite', prepareDatabase)
