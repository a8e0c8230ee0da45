import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Durability } from '../durability.ts'
import { syncPath, syncTree } from './sync-files.ts'
import { forgetSync, markSynced, syncOnce } from './synced-mark.ts'

/** The folder of an embedded database. */
export interface DatabaseFolder {
  /** The data folder, which exists. */
  readonly dataDir: string
  readonly durability: Durability
  /** Writes the files of a new database into a folder, which does not exist yet. */
  readonly create: (folder: string) => Promise<void>
}

/**
 * Prepares the folder `pglite` of the data folder for the engine, and returns its path. A new database is made under another name and
 * renamed when it is complete, so that a process that dies meanwhile leaves no half of it.
 */
export async function prepareDatabaseFolder({
  dataDir,
  durability,
  create,
}: DatabaseFolder): Promise<string> {
  const folder = join(dataDir, 'pglite')
  if (!existsSync(join(folder, 'PG_VERSION'))) {
    assertEmpty(folder)
    const unfinished = `${folder}.new`
    rmSync(unfinished, { recursive: true, force: true })
    await create(unfinished)
    if (durability === 'full') syncTree(unfinished)
    renameSync(unfinished, folder)
    if (durability === 'full') markSynced(folder)
  }
  if (durability === 'full') syncOnce(folder)
  else forgetSync(folder)
  return folder
}

/** Refuses a folder that may be the rest of a database: only a person can know whether its transactions are needed. */
function assertEmpty(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder) : []
  if (names.length > 0)
    throw new Error(
      `${folder} is no complete database: PG_VERSION is missing, and there are ${names.slice(0, 3).join(', ')}${names.length > 3 ? ' and others' : ''}. Restore a backup there. If it never held anything that you need, move it away, and the service makes a new one.`,
    )
}

/** Creates the data folder with mode 0700 where it is missing. Its name lasts like its content: the parent of each new folder is synced. */
export function createDataFolder(dataDir: string): void {
  const first = mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = resolve(dataDir); made.length >= resolve(first).length; made = dirname(made))
    syncPath(dirname(made))
}
