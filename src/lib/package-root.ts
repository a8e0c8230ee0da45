import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of package.json and openapi.yaml. The program is bundled, so its files have no fixed distance from it. */
export const PACKAGE_ROOT: string = rootAbove(import.meta.dirname)

/** Gives the path of a file that `npm run build` makes. Sources and bundle find the same one. */
export function builtFile(name: string): string {
  return join(PACKAGE_ROOT, 'dist', name)
}

function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error('The program has no package.json in a folder above it.')
  return rootAbove(parent)
}
