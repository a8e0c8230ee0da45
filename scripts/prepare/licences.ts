import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = 'node_modules/'
const LICENCE = /^(licen[cs]e|copying)(\.(md|txt|mit|bsd))?$/i

/** Returns the licences of the packages to which these modules belong, one after the other: anyone who gets their code gets those, too. */
export function licencesOf(modules: readonly string[]): string {
  const packages = new Set(modules.flatMap((path) => folderOf(path.replaceAll('\\', '/')) ?? []))
  return [...packages]
    .map(licenceOf)
    .sort((one, other) => (one < other ? -1 : 1))
    .join(`\n${'-'.repeat(80)}\n\n`)
}

/** Returns the folder of the package, which may lie in the folder of another package. */
function folderOf(path: string): string | undefined {
  const at = path.lastIndexOf(FOLDER)
  if (at < 0) return undefined
  const start = at + FOLDER.length
  const [first = '', second = ''] = path.slice(start).split('/')
  return path.slice(0, start) + (first.startsWith('@') ? `${first}/${second}` : first)
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly version: string
    readonly license?: string
  }
  const file = readdirSync(folder).find((entry) => LICENCE.test(entry))
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()
  return `${name} ${version}, licence: ${license ?? 'see below'}\n\n${text}\n`
}
