import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Import, readImports, sourceFiles } from '../imports/read-imports.ts'

/** The limits of the layout, and what may exceed them: the path of each exception with its reason. */
export interface LayoutRules {
  /** The maximum number of files and folders in a folder of the sources. With more, no one finds a file by reading the list. */
  readonly entries: number
  /** A file with fewer lines and a single importer belongs to its importer: its own name and header tell a reader nothing more. */
  readonly lines: number
  /** The maximum number of files at the root of the repository. */
  readonly rootFiles: number
  /** Folders that may have more entries. */
  readonly folders: Readonly<Record<string, string>>
  /** Files that may be small. */
  readonly files: Readonly<Record<string, string>>
}

/** The rules of this repository. Paths are relative to `src`; `.` is `src` itself. */
export const LAYOUT: LayoutRules = {
  entries: 15,
  lines: 40,
  rootFiles: 25,
  folders: {
    '.': 'It is the list of the domains. A level above them would hide what the service consists of.',
  },
  files: {
    'cli/node-version.ts':
      'It runs before anything else is imported, so that an old Node.js gets a sentence instead of a syntax error.',
    'contract/formats.ts': 'The validators that a build prepares require it by its name.',
    'contract/prepared-validators.ts': 'A build replaces it.',
    'database/database-clock.ts': 'It reads the time by SQL, and its importer is not part of the database.',
    'database/engines/embedded/migrations-version.ts': 'A build replaces it.',
    'database/migrations/index.ts': 'It is the list of the migrations, which grows.',
  },
}

/** Everything under `root`, a folder of sources, that breaks the rules, one sentence each; empty when all is well. */
export function findLayoutViolations(root: string, rules: LayoutRules): string[] {
  return [
    ...foldersOf(root).flatMap((folder) => crowdedFolder(root, folder, rules)),
    ...splinters(root, rules),
    ...uselessExceptions(root, rules),
  ]
}

/** Returns a sentence when the root of the repository has too many files; `files` are the tracked ones. */
export function findRootViolation(files: readonly string[], { rootFiles }: LayoutRules): string[] {
  const { length } = files.filter((file) => !file.includes('/'))
  return length <= rootFiles ? [] : [`The root has ${length} files; at most ${rootFiles} may stand there.`]
}

function foldersOf(root: string): string[] {
  const folders = sourceFiles(root).map((file) => file.slice(0, Math.max(0, file.lastIndexOf('/'))) || '.')
  return [...new Set(folders)].sort()
}

function crowdedFolder(root: string, folder: string, { entries, folders }: LayoutRules): string[] {
  const { length } = readdirSync(join(root, folder))
  if (length <= entries || Object.hasOwn(folders, folder)) return []
  return [
    `${folder}: has ${length} entries; at most ${entries}. Group its files by the story that they tell.`,
  ]
}

/** Each migration is a file, and none changes after its release. */
const MIGRATION = /(^|\/)migrations\/\d{4}-/

function splinters(root: string, rules: LayoutRules): string[] {
  const importers = importersOf(readImports(root))
  return sourceFiles(root).flatMap((file) => {
    const [importer, ...others] = importers.get(file) ?? []
    if (importer === undefined || others.length > 0) return []
    if (Object.hasOwn(rules.files, file) || MIGRATION.test(file)) return []
    const lines = linesOf(root, file)
    if (lines >= rules.lines) return []
    return [`${file}: has ${lines} lines and one importer; move it into ${importer}.`]
  })
}

/** An exception that excepts nothing would let the next small file through. */
function uselessExceptions(root: string, { files, lines }: LayoutRules): string[] {
  const known = new Set(sourceFiles(root))
  return Object.keys(files).flatMap((file) =>
    known.has(file) && linesOf(root, file) < lines
      ? []
      : [`${file}: needs no exception; remove it from scripts/layout/violations.ts.`],
  )
}

function importersOf(imports: readonly Import[]): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, Set<string>>()
  for (const { from, to, kind } of imports) {
    if (kind !== 'file') continue
    const known = importers.get(to) ?? new Set()
    importers.set(to, known.add(from))
  }
  return new Map([...importers].map(([file, from]) => [file, [...from]]))
}

function linesOf(root: string, file: string): number {
  return readFileSync(join(root, file), 'utf8').split('\n').length - 1
}
