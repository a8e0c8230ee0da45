import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { open, rename, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { UsageError } from './command.ts'

/** The mode of files with keys, passphrases and API keys: only the owner may read them. */
const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700

/**
 * Writes a new file, and creates its folder when missing. The file survives a power cut when this returns: a
 * key that is lost afterwards takes the account with it.
 * @throws UsageError if the file exists
 */
export async function writeNew(path: string, text: string, mode = PRIVATE_FILE): Promise<void> {
  const folder = resolve(dirname(path))
  const firstNew = mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER })
  const descriptor = openNew(path, mode)
  try {
    const bytes = Buffer.from(text)
    let written = 0
    while (written < bytes.length)
      written += writeSync(descriptor, bytes, written, bytes.length - written, written)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  syncFolders(folder, firstNew === undefined ? folder : dirname(resolve(firstNew)))
}

function openNew(path: string, mode: number): number {
  try {
    return openSync(path, 'wx', mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw alreadyExist([path])
    throw error
  }
}

/** Syncs the entries of a folder, and of those above it up to `last`. */
function syncFolders(folder: string, last: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  if (folder !== last) syncFolders(dirname(folder), last)
}

/** Replaces a private file as a whole: a crash leaves either the old or the new content. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.new`
  const file = await open(draft, 'w', PRIVATE_FILE)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}

/**
 * Checks all files of a command before it writes the first one, so that a refused command leaves no part of
 * its work behind.
 * @throws UsageError if one of the files exists
 */
export async function refuseExisting(paths: readonly string[]): Promise<void> {
  const found: string[] = []
  for (const path of paths) if (await exists(path)) found.push(path)
  if (found.length > 0) throw alreadyExist(found)
}

/** Returns true if the file or folder exists. */
export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

function alreadyExist(paths: readonly string[]): UsageError {
  return new UsageError(`Existing files are never overwritten; these exist already: ${paths.join(', ')}`)
}
