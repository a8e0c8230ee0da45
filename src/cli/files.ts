import { mkdir, open, rename, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from './command.ts'

/** The mode of files with keys, passphrases and API keys: only the owner may read them. */
const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700

/**
 * Writes a new file, and creates its folder when missing.
 * @throws UsageError when the file exists
 */
export async function writeNew(path: string, text: string, mode = PRIVATE_FILE): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER })
  try {
    await writeFile(path, text, { flag: 'wx', mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw alreadyExist([path])
    throw error
  }
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
 * Checks all files of a command before it writes the first one, so that a refused command leaves no part of its work behind.
 * @throws UsageError when one of the files exists
 */
export async function refuseExisting(paths: readonly string[]): Promise<void> {
  const found: string[] = []
  for (const path of paths) if (await exists(path)) found.push(path)
  if (found.length > 0) throw alreadyExist(found)
}

/** Returns true when the file or folder exists. */
export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

function alreadyExist(paths: readonly string[]): UsageError {
  return new UsageError(`Existing files are never overwritten; these exist already: ${paths.join(', ')}`)
}
