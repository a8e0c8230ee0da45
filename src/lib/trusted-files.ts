import type { Stats } from 'node:fs'

/** The permission to write of everyone on the machine. */
const WRITABLE_BY_ALL = 0o002

/**
 * Returns the reason not to trust a file or folder, as the end of a sentence that begins with its path;
 * undefined if there is none. Windows has other permissions, which are not checked.
 *
 * @param others users to trust, besides root and the one of this process
 * @param user the user of this process
 */
export function distrust(
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  others: readonly number[] = [],
  user: number | undefined = process.getuid?.(),
): string | undefined {
  if (user === undefined) return undefined
  const shown = (mode & 0o7777).toString(8).padStart(4, '0')
  if (mode & WRITABLE_BY_ALL) return `can be written by every user of this machine (mode ${shown})`
  // Root reads the files of all, as it reads the folder of a service that ran as another user before.
  if (user === 0 || [0, user, ...others].includes(uid)) return undefined
  return `belongs to user ${uid}, and this process runs as user ${user}`
}
