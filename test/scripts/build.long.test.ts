import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { currentProgram, hashOfSources, markOf } from '../../scripts/prepare/current-program.mjs'
import { prepareProgram } from '../../scripts/prepare/program.ts'
import { isDeadWeight } from '../../scripts/prune/dead-weight.ts'

describe('the current program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'current-program-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  const FILES = {
    'src/main.ts': 'main',
    'src/lib/other.ts': 'other',
    'console/src/format/amounts.ts': 'shared with the console',
    'scripts/prepare/program.ts': 'build',
    'openapi.yaml': 'contract',
    'package.json': '{}',
    'package-lock.json': '{}',
    'node_modules/.package-lock.json': '{}',
  }

  function write(root: string, path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }

  /** A clone whose program was just built. */
  function built(): string {
    const root = mkdtempSync(join(folder, 'clone-'))
    for (const [path, text] of Object.entries(FILES)) write(root, path, text)
    write(root, 'dist/main.js', 'program')
    writeFileSync(markOf(root), hashOfSources(root))
    return root
  }

  test('a program that was built from the present sources is current, whatever their time is', () => {
    const root = built()
    utimesSync(join(root, 'src/main.ts'), 0, 0)
    expect(currentProgram(root)).toBe(join(root, 'dist/main.js'))
  })

  test.each(Object.keys(FILES))('a program is not current after %s has changed', (path) => {
    const root = built()
    write(root, path, 'changed')
    expect(currentProgram(root)).toBeUndefined()
  })

  test('a program is not current after a source was added, moved or removed, and not before its build is complete', () => {
    const [added, moved, removed, unfinished] = [built(), built(), built(), built()]
    write(added, 'src/new.ts', '')
    rmSync(join(moved, 'src/lib/other.ts'))
    write(moved, 'src/lib/moved.ts', FILES['src/lib/other.ts'])
    rmSync(join(removed, 'src/lib/other.ts'))
    rmSync(markOf(unfinished))
    expect([added, moved, removed, unfinished].map(currentProgram)).toEqual(Array(4).fill(undefined))
  })
})

describe('the built program', () => {
  const ROOT = resolve(import.meta.dirname, '../..')
  const clone = mkdtempSync(join(tmpdir(), 'program-'))
  afterAll(() => rmSync(clone, { recursive: true }))

  for (const name of [
    'src',
    'importers',
    'console/src/format',
    'scripts',
    'package.json',
    'package-lock.json',
    'openapi.yaml',
  ])
    cpSync(join(ROOT, name), join(clone, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))

  const run = (...args: string[]) =>
    execFileSync(process.execPath, [join(clone, 'scripts/relayer.mjs'), ...args], {
      cwd: clone,
      encoding: 'utf8',
    })

  test('npm start runs the built program while it is current, and the sources after a change', async () => {
    await prepareProgram(clone)
    const main = join(clone, 'dist/main.js')
    // A program of its own tells which of the two runs.
    writeFileSync(main, "console.log('built')\n")
    expect(run('--version')).toBe('built\n')
    writeFileSync(join(clone, 'src/lib/new.ts'), 'export {}\n')
    expect(run('--version')).toMatch(/^\d/)
    await prepareProgram(clone)
    expect(run('--version')).toMatch(/^\d/)
  }, 120_000)

  test('the program comes with the licence of every package in it, and with the process of PKCS#11 libraries', async () => {
    const licences = readFileSync(join(clone, 'dist/main.js.LICENSE.txt'), 'utf8')
    for (const name of ['koa', 'openapi-backend', 'viem', '@stellar/stellar-sdk'])
      expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+, licence: `, 'm'))
    expect(existsSync(join(clone, 'dist/signers/pkcs11/process/main.js'))).toBe(true)
  })
})

test.each([
  'viem/_esm/index.js.map',
  'kysely/dist/index.d.ts',
  'kysely/dist/index.d.mts',
  'viem/utils/index.ts',
  'pino/README.md',
  'viem/_cjs/index.js',
  'viem/node_modules/ox/_types/index.d.ts',
  'a/node_modules/ox/_cjs/index.js',
  '@stellar/stellar-sdk/dist/stellar-sdk.js',
  '@solana/kit/dist/index.browser.mjs',
  '@solana/kit/dist/index.native.mjs',
  'typescript/lib/tsc.js',
  'typescript/LICENSE.txt',
  'secp256k1/src/secp256k1/src/ecmult.h',
])('%s goes', (path) => expect(isDeadWeight(path)).toBe(true))

test.each([
  'viem/_esm/index.js',
  'viem/LICENSE',
  'viem/LICENSE.md',
  'pg/LICENSE',
  '@stellar/stellar-sdk/lib/esm/index.js',
  '@solana/kit/dist/index.node.mjs',
  '@electric-sql/pglite/dist/pglite.wasm',
  '@electric-sql/pglite/dist/pglite.data',
  'secp256k1/prebuilds/linux-x64/node.napi.node',
  'secp256k1/build/Release/addon.node',
  'secp256k1/package.json',
  'typescript-like/lib/index.js',
  'koa/lib/application.js',
])('%s stays', (path) => expect(isDeadWeight(path)).toBe(false))

const ROOT = resolve(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')

const dockerfile = read('Dockerfile')
const admitted = read('.dockerignore')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1))

/** The sources of a COPY from the folder of the build, not from another stage. */
const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
  sources.split(' '),
)

describe('the image', () => {
  test.each(copied)('gets %s, which is there and not ignored', (path) => {
    expect(existsSync(join(ROOT, path))).toBe(true)
    expect(admitted.some((allowed) => path === allowed || path.startsWith(`${allowed}/`))).toBe(true)
  })

  test('gets nothing that no step copies', () => {
    expect(admitted.filter((path) => !copied.some((source) => source === path))).toEqual([])
  })

  test('builds every stage on the base image that can be given by digest', () => {
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    expect(bases).toHaveLength(3)
    for (const base of bases) expect(base).toMatch(/^\$\{NODE_IMAGE\}$/)
  })

  test('says the version of package.json', () => {
    expect(dockerfile).toContain(`ARG VERSION=${JSON.parse(read('package.json')).version}\n`)
  })
})

test('each service of compose.yaml has limits of memory and of its log, and one file has all secrets', () => {
  const { services } = parse(read('compose.yaml')) as {
    services: Record<
      string,
      { deploy: { resources: { limits: { memory?: string } } }; logging: { options: object } }
    >
  }
  for (const { deploy, logging } of Object.values(services)) {
    expect(deploy.resources.limits.memory).toMatch(/^\d+[MG]$/)
    expect(logging.options).toHaveProperty('max-size')
  }
  expect(read('compose.yaml')).not.toContain('env_file')
})

describe('the version of Node.js', () => {
  const read = (name: string) => readFileSync(join(import.meta.dirname, '../..', name), 'utf8')

  test('a clone, the workflows and the image have the same Node.js', () => {
    const version = read('.node-version').trim()
    expect(JSON.parse(read('package.json')).devDependencies.node).toBe(version)
    expect(read('Dockerfile')).toContain(`ARG NODE_IMAGE=node:${version}-slim\n`)
    expect(read('.github/workflows/release.yml')).toContain(`inspect node:${version}-slim `)
  })
})
