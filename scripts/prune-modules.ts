/**
 * `node scripts/prune-modules.ts [folder]`: removes from a folder of modules (default `node_modules`) the files that a production installation
 * never loads. The image runs it after `npm ci --omit=dev`. Do not run it where you develop: the declarations of types go, too.
 */
import { readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { isDeadWeight } from './prune/dead-weight.ts'

const BYTES_PER_MB = 1_000_000

const root = resolve(process.argv[2] ?? 'node_modules')
const all = files(root)
const dead = all.filter((file) => isDeadWeight(relative(root, file).split(sep).join('/')))
const before = sizeOf(all)
const removed = sizeOf(dead)
for (const file of dead) rmSync(file)
removeEmptyFolders(root)
console.log(
  `${dead.length} of ${all.length} files removed: ${megabytes(before)} MB before, ${megabytes(before - removed)} MB after.`,
)

/** The files below a folder. Links are left alone: their targets are listed where they are. */
function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function sizeOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + statSync(path).size, 0)
}

function megabytes(bytes: number): number {
  return Math.round(bytes / BYTES_PER_MB)
}

function removeEmptyFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name))
  if (folder !== root && readdirSync(folder).length === 0) rmdirSync(folder)
}
