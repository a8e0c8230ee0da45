import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk of its own, in memory, that can be filled. */
export interface SmallDisk {
  readonly path: string
  /** Takes all the room that is left. */
  fill(): void
  /** Gives the room back. */
  free(): void
  remove(): void
}

/** True when this process may mount a disk, as root of most machines may. */
export function canMountDisks(): boolean {
  try {
    createSmallDisk(1).remove()
    return true
  } catch {
    return false
  }
}

/** Mounts a disk of this size in MB. */
export function createSmallDisk(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'relayer-disk-'))
  const filler = join(path, 'filler')
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'pipe' })
  } catch (error) {
    rmdirSync(path)
    throw error
  }
  return {
    path,
    fill: () => {
      try {
        writeFileSync(filler, Buffer.alloc(megabytes * 1024 * 1024, 1))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    },
    free: () => rmSync(filler, { force: true }),
    remove: () => {
      execFileSync('umount', ['--lazy', path], { stdio: 'pipe' })
      rmdirSync(path)
    },
  }
}
