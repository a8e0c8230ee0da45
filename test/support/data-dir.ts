import { createHash } from 'node:crypto'
import { cpSync, existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPGlite } from '../../src/database/engines/embedded/pglite.ts'
import { migrate } from '../../src/database/migrate.ts'

const MODULES = join(import.meta.dirname, '../../node_modules')
const ENGINE = join(MODULES, '@electric-sql/pglite/package.json')
const DATABASE = join(import.meta.dirname, '../../src/database')

/** Folders of data that no one has used, one for each version of the engine and of the migrations. */
const TEMPLATES = join(MODULES, '.cache/relayer-tests')

/**
 * Creates a folder for DATA_DIR, as an empty one is after the service has migrated its database. The engine and the migrations take three
 * seconds of a core, a copy takes a fraction of one.
 */
export async function createDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-data-'))
  await fillDataDir(folder)
  return folder
}

/** Fills a folder that exists and is empty, or does not exist. */
export async function fillDataDir(folder: string): Promise<void> {
  template ??= findTemplate()
  cpSync(await template, join(folder, 'pglite'), { recursive: true })
}

/** Looked up once for each process of tests, because that reads all sources of the database. */
let template: Promise<string> | undefined

/** Makes the template where it does not exist; of several processes that do so at once, one keeps its own. */
async function findTemplate(): Promise<string> {
  const path = join(TEMPLATES, `pglite-${await templateVersion()}`)
  if (existsSync(path)) return path
  await mkdir(TEMPLATES, { recursive: true })
  const made = await mkdtemp(join(TEMPLATES, 'new-'))
  const database = await openPGlite({ dataDir: made, durability: 'relaxed' })
  await migrate(database)
  await database.close()
  await rename(join(made, 'pglite'), path).catch(() => {})
  await rm(made, { recursive: true })
  return path
}

/** Everything that decides about the files of a new database. */
async function templateVersion(): Promise<string> {
  const sources = (await readdir(DATABASE, { recursive: true })).filter((name) => name.endsWith('.ts')).sort()
  const texts = await Promise.all(
    [ENGINE, ...sources.map((name) => join(DATABASE, name))].map((file) => readFile(file)),
  )
  return createHash('sha256').update(Buffer.concat(texts)).digest('hex').slice(0, 16)
}
