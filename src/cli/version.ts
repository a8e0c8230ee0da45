import { readFileSync } from 'node:fs'

/** The file lies at the same distance from the source and from the built program. */
const PACKAGE = new URL('../../package.json', import.meta.url)

/** Returns the version of this release, as package.json has it. */
export function version(): string {
  return (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string }).version
}
