import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const BYTES_PER_MB = 1_000_000

/** The unit of `blocks` in the result of stat(2). */
const BYTES_PER_BLOCK = 512

/** Lists the files below a folder. Links are left alone: their targets are listed where they are. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Adds up what files take on the disk, in MB, as `du` does: many small files take more than they contain. */
export function megabytesOf(files: readonly string[]): number {
  const blocks = files.reduce((sum, file) => sum + statSync(file).blocks, 0)
  return Math.round((blocks * BYTES_PER_BLOCK) / BYTES_PER_MB)
}
