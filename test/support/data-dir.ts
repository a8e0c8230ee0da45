import { cpSync, existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPGlite } from '../../src/database/engines/pglite.ts'

const MODULES = join(import.meta.dirname, '../../node_modules')
const ENGINE = join(MODULES, '@electric-sql/pglite/package.json')

/** Folders of data that the engine has made and nobody has used, one for each of its versions. */
const TEMPLATES = join(MODULES, '.cache/relayer-tests')

/**
 * A new folder for DATA_DIR, as an empty one is right after the embedded engine has made its files in it: no table of ours
 * is there yet. Making them takes the engine two seconds of a core, copying them a tenth of one.
 */
export async function createDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-data-'))
  await fillDataDir(folder)
  return folder
}

/** The same in a folder that is there and empty. */
export async function fillDataDir(folder: string): Promise<void> {
  cpSync(await findTemplate(), join(folder, 'pglite'), { recursive: true })
}

/** Makes it where it is not there yet; of several that do so at once, one keeps its own. */
async function findTemplate(): Promise<string> {
  const { version } = JSON.parse(await readFile(ENGINE, 'utf8')) as { version: string }
  const template = join(TEMPLATES, `pglite-${version}`)
  if (existsSync(template)) return template
  await mkdir(TEMPLATES, { recursive: true })
  const made = await mkdtemp(join(TEMPLATES, 'new-'))
  const { close } = await openPGlite(made)
  await close()
  await rename(join(made, 'pglite'), template).catch(() => {})
  await rm(made, { recursive: true })
  return template
}
