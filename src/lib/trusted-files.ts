import type { Stats } from 'node:fs'

/** The permission to write of everybody on the machine. */
const WRITABLE_BY_ALL = 0o002

/** Users whose files this process trusts: its own, and root, who could change the program as well. */
function trustedUsers(): readonly number[] {
  return [0, process.getuid?.() ?? 0]
}

/**
 * Returns the reason not to trust a file or folder, as the end of a sentence that begins with its path; undefined if there is none. Windows has
 * other permissions, which are not checked.
 *
 * @param others further users to trust
 */
export function distrust({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, others: readonly number[] = []) {
  if (process.platform === 'win32') return undefined
  const shown = (mode & 0o7777).toString(8).padStart(4, '0')
  if (mode & WRITABLE_BY_ALL) return `can be written by every user of this machine (mode ${shown})`
  // Root reads the files of all, as it reads the folder of a service that ran as another user before.
  if (process.getuid?.() === 0 || [...trustedUsers(), ...others].includes(uid)) return undefined
  return `belongs to user ${uid}, and this process runs as user ${process.getuid?.()}`
}
