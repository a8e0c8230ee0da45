import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { UnreadableConfigError } from '../lib/config-errors.ts'

/**
 * Reads a file of the configuration; undefined when it does not exist.
 * @throws UnreadableConfigError for a file that exists and cannot be read
 */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new UnreadableConfigError(`${path} cannot be read (${code})${reasonOf(path, code)}`)
  }
}

function reasonOf(path: string, code: string): string {
  if (code === 'EISDIR') return ': it is a folder, and a file is expected.'
  const blocking = code === 'EACCES' || code === 'EPERM' ? blockingPart(path) : undefined
  if (blocking === undefined) return '.'
  const { uid, mode } = statSync(blocking)
  const shownMode = (mode & 0o7777).toString(8).padStart(4, '0')
  const user = process.getuid?.()
  return `: ${blocking} belongs to user ${uid} with mode ${shownMode}, and this process runs as user ${user}. Give it to that user: chown -R ${user} ${blocking}`
}

/** Finds the first part of the path, from the root, that this process may not open. */
function blockingPart(path: string): string | undefined {
  const parent = dirname(path)
  const above = parent === path ? undefined : blockingPart(parent)
  if (above !== undefined) return above
  try {
    accessSync(path, statSync(path).isDirectory() ? constants.X_OK : constants.R_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? path : undefined
  }
}
