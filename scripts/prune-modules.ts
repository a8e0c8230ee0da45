/**
 * `node scripts/prune-modules.ts [folder]`: removes from a folder of modules (default `node_modules`) the files that a production installation
 * never loads. The image runs it after `npm ci --omit=dev`. Do not run it where you develop: the declarations of types go, too.
 */
import { readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { isDeadWeight } from './prune/dead-weight.ts'
import { filesBelow, megabytesOf } from './prune/sizes.ts'

const root = resolve(process.argv[2] ?? 'node_modules')
const all = filesBelow(root)
const before = megabytesOf(all)
const dead = all.filter((file) => isDeadWeight(relative(root, file).split(sep).join('/')))
for (const file of dead) rmSync(file)
removeEmptyFolders(root)
console.log(
  `${dead.length} of ${all.length} files removed: ${before} MB before, ${megabytesOf(filesBelow(root))} MB after.`,
)

function removeEmptyFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name))
  if (folder !== root && readdirSync(folder).length === 0) rmdirSync(folder)
}
