import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE_ROOT } from '../lib/package-root.ts'

/** Returns the version of this release, as package.json has it. */
export function version(): string {
  return (
    JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { readonly version: string }
  ).version
}
