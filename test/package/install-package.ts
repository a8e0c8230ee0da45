import { cpSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { runProgram } from './run-program.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** Everything else stays out, above all `dist` and configurations of anyone who runs the tests. */
const SOURCES = [
  'package.json',
  'package-lock.json',
  '.npmrc',
  'openapi.yaml',
  'generated',
  'importers',
  'src',
  'clients',
  'console',
  'scripts',
  'examples',
  'docs',
  'ops',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'LICENSE',
]

/** Names that are set by an npm that runs these tests, and that the npm of a user does not have. */
const OF_NPM = /^npm_/

/** The environment of a user: the search path with this Node.js first, and what the network needs. */
export const USER_ENV: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !OF_NPM.test(name) && name !== 'NODE_ENV'),
)

/** An installation in a folder that has nothing else. */
export interface Installation {
  readonly folder: string
  /** The paths of the files in the package. */
  readonly packed: readonly string[]
  /** What npm said when it installed the package. */
  readonly said: string
}

/** A package that npm has made. */
export interface Package {
  readonly file: string
  /** The paths of the files in it. */
  readonly packed: readonly string[]
}

/** Packs a copy of this repository, in a folder that is given or made. */
export async function packClone(root = mkdtempSync(join(tmpdir(), 'relayer-package-'))): Promise<Package> {
  const clone = join(root, 'clone')
  mkdirSync(clone)
  for (const name of SOURCES) cpSync(join(ROOT, name), join(clone, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  const packing = await runProgram(['npm', 'pack', '--json', '--pack-destination', root], {
    cwd: clone,
    env: USER_ENV,
  })
  if (packing.code !== 0) throw new Error(packing.err)
  const [file = ''] = readdirSync(root).filter((name) => name.endsWith('.tgz'))
  return { file: join(root, file), packed: packedFiles(packing.out) }
}

/** Packs a copy of this repository, and installs the package into an empty folder. */
export async function installPackage(): Promise<Installation> {
  const { file, packed } = await packClone()
  const folder = join(dirname(file), 'elsewhere')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const install = ['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', file]
  const installing = await runProgram(install, { cwd: folder, env: USER_ENV })
  if (installing.code !== 0) throw new Error(installing.err)
  return { folder, packed, said: installing.out + installing.err }
}

/** The scripts of the package write to the same stream before the list. */
export function packedFiles(out: string): string[] {
  const list = JSON.parse(out.slice(out.search(/^[[{]$/m))) as unknown
  const [{ files }] = (Array.isArray(list) ? list : Object.values(list as object)) as [
    { files: readonly { path: string }[] },
  ]
  return files.map(({ path }) => path)
}
