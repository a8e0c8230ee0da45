import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { syncPath, syncTree } from './sync-files.ts'

/**
 * Makes sure that every file of the database is on the disk before it is opened with `full` durability. The engine syncs only what it
 * writes, so what another opener wrote without syncing would be lost for ever. A mark beside the folder spares the next start the work.
 */
export function syncOnce(folder: string): void {
  if (isMarked(folder)) return
  syncTree(folder)
  markSynced(folder)
}

/** Marks a folder whose files are on the disk. Its name may not be there yet. */
export function markSynced(folder: string): void {
  syncPath(dirname(folder))
  mark(folder)
}

/** Removes the mark, for an opener that does not sync. The removal itself is on the disk before the opener writes. */
export function forgetSync(folder: string): void {
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

/** Tells the folder from a copy of it, such as a restored backup, whose files may not be on the disk yet. */
function identityOf(folder: string): string {
  const { ino, birthtimeNs } = statSync(folder, { bigint: true })
  return `inode ${ino} created ${birthtimeNs}\n`
}

function markOf(folder: string): string {
  return join(dirname(folder), `${basename(folder)}.synced`)
}
