import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { distrust } from '../../../lib/trusted-files.ts'
import type { Durability } from '../../durability.ts'

/** The folder of an embedded database. */
export interface DatabaseFolder {
  /** The data folder, which exists. */
  readonly dataDir: string
  readonly durability: Durability
  /** Writes the files of a new database into a folder, which does not exist yet. */
  readonly create: (folder: string) => Promise<void>
}

/**
 * Prepares the folder `pglite` of the data folder for the engine, and returns its path. A new database is
 * made under another name and renamed when it is complete, so that a process that dies in the middle leaves
 * no partial one.
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
  assertOwn(folder)
  if (durability === 'full') syncOnce(folder)
  else forgetSync(folder)
  return folder
}

/**
 * The files and folders of a database. Others change what the engine does with it: it would take it for a
 * standby, or restore from a log.
 */
const OF_DATABASE = new Set(
  'PG_VERSION base global pg_commit_ts pg_dynshmem pg_hba.conf pg_ident.conf pg_logical pg_multixact pg_notify pg_replslot pg_serial pg_snapshots pg_stat pg_stat_tmp pg_subtrans pg_tblspc pg_twophase pg_wal pg_xact postgresql.auto.conf postgresql.conf postmaster.opts postmaster.pid'.split(
    ' ',
  ),
)

/** Refuses a folder with anything that the service did not make, or that other users can change. */
function assertOwn(folder: string): void {
  const reason = distrust(statSync(folder))
  if (reason !== undefined)
    throw new DatabaseNotOwnError(
      `${folder} ${reason}. Its owner must be the user of the service, and its mode 0700.`,
    )
  const entries = readdirSync(folder, { withFileTypes: true })
  const other = entries.find((entry) => !OF_DATABASE.has(entry.name) || entry.isSymbolicLink())
  const spaces = join(folder, 'pg_tblspc')
  const [space] = existsSync(spaces) ? readdirSync(spaces) : []
  const path = other?.name ?? (space === undefined ? undefined : `pg_tblspc/${space}`)
  if (path !== undefined)
    throw new DatabaseNotOwnError(
      `${join(folder, path)} is no file of the embedded database, and the service did not make it. Find out who did; then move it away.`,
    )
}

/** The folder of the embedded database is not as the service made it. */
class DatabaseNotOwnError extends Error {
  override readonly name = 'DatabaseNotOwnError'
}

/**
 * Refuses a folder that may be the remains of a database: only a person can know whether its transactions are
 * needed.
 */
function assertEmpty(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder) : []
  if (names.length > 0)
    throw new Error(
      `${folder} is not a complete database: PG_VERSION is missing, and there are ${names.slice(0, 3).join(', ')}${names.length > 3 ? ' and others' : ''}. Restore a backup there. If it never contained anything that you need, move it away, and the service creates a new one.`,
    )
}

/**
 * Creates the data folder with mode 0700 where it is missing. Its name lasts like its content: the parent of
 * each new folder is synced.
 */
export function createDataFolder(dataDir: string): void {
  const first = mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = resolve(dataDir); made.length >= resolve(first).length; made = dirname(made))
    syncPath(dirname(made))
}

/**
 * Makes sure that every file of the database is on the disk before it is opened with `full` durability. The
 * engine syncs only what it writes, so what another opener wrote without syncing would be lost for ever. A
 * mark beside the folder spares the next start the work.
 */
function syncOnce(folder: string): void {
  if (isMarked(folder)) return
  syncTree(folder)
  markSynced(folder)
}

/** Marks a folder whose files are on the disk. Its name may not be there yet. */
function markSynced(folder: string): void {
  syncPath(dirname(folder))
  mark(folder)
}

/**
 * Removes the mark, for an opener that does not sync. The removal itself is on the disk before the opener
 * writes.
 */
function forgetSync(folder: string): void {
  if (readMark(folder) === undefined) return
  rmSync(markOf(folder))
  syncPath(dirname(folder))
}

function isMarked(folder: string): boolean {
  return readMark(folder) === identityOf(folder)
}

function mark(folder: string): void {
  const descriptor = openSync(markOf(folder), 'w', 0o600)
  try {
    const identity = Buffer.from(identityOf(folder))
    writeSync(descriptor, identity, 0, identity.length, 0)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  syncPath(dirname(folder))
}

function readMark(folder: string): string | undefined {
  try {
    return readFileSync(markOf(folder), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Distinguishes the folder from a copy of it, such as a restored backup, whose files may not be on the disk
 * yet.
 */
function identityOf(folder: string): string {
  const { ino, birthtimeNs } = statSync(folder, { bigint: true })
  return `inode ${ino} created ${birthtimeNs}\n`
}

function markOf(folder: string): string {
  return join(dirname(folder), `${basename(folder)}.synced`)
}

/** Makes a file's content or a folder's entries survive a power cut. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Syncs every file and folder of the folder, and the folder itself. Its own name is an entry of its parent,
 * which is not synced.
 */
function syncTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) syncTree(path)
    else if (entry.isFile()) syncPath(path)
  }
  syncPath(folder)
}
