import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

/**
 * Lets the programs of a clone import the client by its name, as `examples` does: each entry of its `dist` loads the sources, so it is as
 * new as they are. Packing the client replaces these files with compiled ones.
 */
export function prepareClient(root: string): void {
  const folder = join(root, 'clients/typescript')
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  for (const entry of Object.values(exports)) {
    if (typeof entry === 'string') continue
    const file = join(folder, entry.default)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `export * from '../src/${basename(file, '.js')}.ts'\n`)
  }
}
