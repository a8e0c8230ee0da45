import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The size of all files below a folder, in MB. Files that go away meanwhile do not count. */
export async function folderMb(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const sizes = await Promise.all(names.map((name) => sizeOf(join(folder, name))))
  return sizes.reduce((sum, bytes) => sum + bytes, 0) / 1024 / 1024
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ? found.size : 0
}
