import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'

/** What decides every build. npm keeps the list of what it has installed in a file of its own. */
const TOOLS = ['scripts/prepare', 'package.json', 'package-lock.json', 'node_modules/.package-lock.json']

/** Everything that decides what the build of the program makes. */
const OF_PROGRAM = ['src', 'importers', 'console/src/format', 'openapi.yaml', ...TOOLS]

/** Everything that decides what the build of the console makes. */
export const OF_CONSOLE = ['console', 'clients/typescript/src', ...TOOLS]

/**
 * Hashes sources. Their content counts and not their time, because git and rsync set the time as they like.
 *
 * @param {string} root the folder of package.json
 * @param {readonly string[]} sources files and folders
 * @returns {string}
 */
export function hashOfSources(root, sources = OF_PROGRAM) {
  const hash = createHash('sha256')
  for (const path of sources.flatMap((source) => filesOf(root, source))) {
    const content = readFileSync(join(root, path))
    hash.update(`${path} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

/**
 * Names the file that tells from which sources the program was built. A build removes it first and writes it last.
 *
 * @param {string} root the folder of package.json
 * @returns {string}
 */
export function markOf(root) {
  return join(root, 'dist/sources.sha256')
}

/**
 * Returns the path of the program, if it was built from the present sources.
 *
 * @param {string} root the folder of package.json
 * @returns {string | undefined}
 */
export function currentProgram(root) {
  const mark = markOf(root)
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== hashOfSources(root)) return undefined
  return join(root, 'dist/main.js')
}

/**
 * @param {string} root
 * @param {string} source a file, or a folder with all that is below it
 * @returns {string[]} paths below the root, in the same order on every machine
 */
function filesOf(root, source) {
  const path = join(root, source)
  if (!existsSync(path)) return []
  if (statSync(path).isFile()) return [source]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}
