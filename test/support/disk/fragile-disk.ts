import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk of its own that can go read-only under its open files, as ext4 does by itself after an error of the device. */
export interface FragileDisk {
  readonly path: string
  /** From now on every write fails with EROFS. */
  turnReadOnly(): void
  /** Mounts it again, writable. No one may have a file of it open. */
  repair(): void
  remove(): void
}

/** The smallest size in MB that is tried, to know whether a disk can be made at all. */
const TRIAL_MB = 8

/** True when this process may mount images of disks, and has the program that makes them. */
export function canMountImages(): boolean {
  try {
    createFragileDisk(TRIAL_MB).remove()
    return true
  } catch {
    return false
  }
}

/** Makes and mounts a disk of this size in MB. */
export function createFragileDisk(megabytes: number): FragileDisk {
  const folder = mkdtempSync(join(tmpdir(), 'relayer-image-'))
  const image = join(folder, 'image')
  const path = mkdtempSync(join(tmpdir(), 'relayer-disk-'))
  const mount = (...options: string[]) => run('mount', ['-o', ['loop', ...options].join(','), image, path])
  const unmount = () => run('umount', [path])
  const removeFolders = () => {
    rmSync(folder, { recursive: true })
    rmdirSync(path)
  }
  try {
    run('mkfs.ext4', ['-q', image, `${megabytes}m`])
    mount()
  } catch (error) {
    removeFolders()
    throw error
  }
  return {
    path,
    turnReadOnly: () => run('mount', ['-o', 'remount,abort', path]),
    repair: () => {
      unmount()
      mount()
    },
    remove: () => {
      unmount()
      removeFolders()
    },
  }
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: 'pipe' })
}
