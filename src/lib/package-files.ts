import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * The folder of package.json and openapi.yaml. The program is bundled, so its files have no fixed distance
 * from it.
 */
export const PACKAGE_ROOT: string = rootAbove(import.meta.dirname)

/** Returns the path of a file that `npm run build` creates. Sources and bundle find the same one. */
export function builtFile(name: string): string {
  return join(PACKAGE_ROOT, 'dist', name)
}

/** Returns the version of this release, as package.json has it. */
export function packageVersion(): string {
  const text = readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}

function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error('The program has no package.json in a folder above it.')
  return rootAbove(parent)
}

/** Returns true if an import failed because the package of this name is not installed. */
export function isMissingPackage(error: unknown, name: string): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return false
  return new RegExp(`Cannot find (package|module) '${name}['/]`).test(String(message))
}

/** Reads a text file, or returns undefined if there is none. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
