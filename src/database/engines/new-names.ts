import { dirname } from 'node:path'

/** The names of files and folders that may not survive a power cut yet, because a name is an entry of its folder. */
export interface NewNames {
  add(path: string): void
  remove(path: string): void
  /** Makes the name and those of new folders above it last. */
  sync(path: string): void
}

/** Creates an empty set. `syncFolder` writes the entries of one folder to the disk. */
export function createNewNames(syncFolder: (folder: string) => void): NewNames {
  const unsynced = new Set<string>()
  const sync = (path: string): void => {
    if (!unsynced.has(path)) return
    const folder = dirname(path)
    sync(folder)
    syncFolder(folder)
    // Only now: after a disk has failed once, the next sync of the file must try again.
    unsynced.delete(path)
  }
  return { add: (path) => void unsynced.add(path), remove: (path) => void unsynced.delete(path), sync }
}
