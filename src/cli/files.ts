import { mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from './command.ts'

/** Only the owner may read: keys, passphrases, API keys. */
const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700

/** Writes a file that must not exist yet, in a folder that is made when missing. */
export async function writeNew(path: string, text: string, mode = PRIVATE_FILE): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER })
  try {
    await writeFile(path, text, { flag: 'wx', mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw alreadyThere([path])
    throw error
  }
}

/** Refuses before anything is written, so that a refused command leaves no half of its work behind. */
export async function refuseExisting(paths: readonly string[]): Promise<void> {
  const found: string[] = []
  for (const path of paths) if (await exists(path)) found.push(path)
  if (found.length > 0) throw alreadyThere(found)
}

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

function alreadyThere(paths: readonly string[]): UsageError {
  return new UsageError(`Nothing is overwritten, and this exists already: ${paths.join(', ')}`)
}
