import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { gunzipSync, gzipSync } from 'node:zlib'
import { builtFile } from '../../../lib/package-files.ts'
import { migrationsVersion } from './migrations-version.ts'

/** A new database writes its log in segments of this size, in MB: the log is bounded by whole segments. */
export const CREATION: readonly string[] = ['--wal-segsize=4']

/**
 * The files of a database that was created, migrated, and never used, in one file. The engine takes seconds
 * and several hundred MB of memory to create a database, and more seconds to migrate it; unpacking one takes
 * a fraction of that. `npm ci` and the image create the file; without it, or with one of another version, the
 * service lets the engine create the database.
 */
interface InitialDatabase {
  readonly madeBy: string
  /** Parents come before their entries. */
  readonly folders: readonly string[]
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** The file of this package. */
export const INITIAL_DATABASE = builtFile('initial-database.gz')

/**
 * Identifies the version of the engine, the arguments with which it creates a database, and the migrations.
 */
export function initialVersion(): string {
  const manifest = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'))
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  return ['pglite', version, ...CREATION, migrationsVersion()].join(' ')
}

/** Packs the folder of a closed database. The file appears complete or not at all. */
export function packDatabase(folder: string, { file, madeBy }: { file: string; madeBy: string }): void {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const pathOf = ({ parentPath, name }: (typeof entries)[number]) =>
    join(parentPath, name).slice(folder.length + 1)
  const packed: InitialDatabase = {
    madeBy,
    folders: entries
      .filter((entry) => entry.isDirectory())
      .map(pathOf)
      .sort(),
    files: new Map(
      entries
        .filter((entry) => entry.isFile())
        .map(pathOf)
        .sort()
        .map((path) => [path, readFileSync(join(folder, path))]),
    ),
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, gzipSync(serialize(packed)))
  renameSync(`${file}.new`, file)
}

/**
 * Returns undefined if there is no file, when another version made it, or when it is damaged, which its
 * checksum shows.
 */
export function readInitialDatabase(file: string, madeBy: string): InitialDatabase | undefined {
  if (!existsSync(file)) return undefined
  try {
    const packed = deserialize(gunzipSync(readFileSync(file))) as InitialDatabase
    return packed.madeBy === madeBy ? packed : undefined
  } catch {
    return undefined
  }
}

/** Writes the files into a folder, which does not exist yet. Only their owner can read them. */
export function unpackDatabase({ folders, files }: InitialDatabase, folder: string): void {
  for (const path of ['', ...folders]) mkdirSync(join(folder, path), { mode: 0o700 })
  for (const [path, content] of files) writeFileSync(join(folder, path), content, { mode: 0o600 })
}
