/**
 * `node scripts/check-sizes.ts <folder>`: compares the sizes that the README and the FAQ tell with an installation, a folder in which
 * `npm install <package>` was run. Prints each, and fails if one is off by more than 5 %. `npm run test:package` runs it.
 */
import { readFileSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { isDeadWeight } from './prune/dead-weight.ts'
import { filesBelow, megabytesOf } from './prune/sizes.ts'

const PACKAGE = 'multichain-relayer'

/** A size may be off by a twentieth, and by 2 in any case, because the documents round. */
const TOLERANCE = 0.05
const LEAST_TOLERANCE = 2

const root = join(import.meta.dirname, '..')
const modules = join(resolve(process.argv[2] ?? '.'), 'node_modules')
const text = ['README.md', 'docs/faq.md'].map((file) => readFileSync(join(root, file), 'utf8')).join('\n')

for (const [sentence, measured] of measure()) {
  const told = [...text.matchAll(sentence)].map(([, number]) => Number(number))
  const isTrue = (number: number) =>
    Math.abs(number - measured) <= Math.max(LEAST_TOLERANCE, measured * TOLERANCE)
  const isGreen = told.length > 0 && told.every(isTrue)
  console.log(
    `${isGreen ? 'ok  ' : 'FAIL'} ${sentence.source}: told ${told.join(' and ')}, measured ${measured}`,
  )
  if (!isGreen) process.exitCode = 1
}

/** Measures what each sentence tells. The image has the modules of others, without what Node.js never loads, and the program. */
function measure(): readonly (readonly [sentence: RegExp, measured: number])[] {
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly optional?: boolean }>>
  }
  const optional = Object.keys(packages).filter((path) => packages[path]?.optional)
  const files = filesBelow(modules).map((file) => relative(modules, file).split(sep).join('/'))
  const below = (folder: string) => files.filter((file) => file.startsWith(`${folder}/`))
  const size = (some: readonly string[]) => megabytesOf(some.map((file) => join(modules, file)))
  const loaded = files.filter((file) => !file.startsWith(`${PACKAGE}/`) && !isDeadWeight(file))
  return [
    [/about (\d+) MB in \d+ packages/g, size(files)],
    [/about \d+ MB in (\d+) packages/g, Object.keys(packages).length],
    [/about (\d+) MB less/g, size(optional.flatMap((path) => below(path.replace('node_modules/', ''))))],
    [/about (\d+) MB of modules/g, size(loaded)],
    [/about (\d+) MB of program/g, size(below(`${PACKAGE}/dist`))],
  ]
}
