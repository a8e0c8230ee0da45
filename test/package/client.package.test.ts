import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { packedFiles, USER_ENV } from './install-package.ts'
import { runProgram } from './run-program.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CLIENT = join(ROOT, 'clients/typescript')
const read = (file: string) => readFileSync(join(CLIENT, file), 'utf8')

const root = mkdtempSync(join(tmpdir(), 'relayer-client-package-'))
afterAll(() => rmSync(root, { recursive: true }))

const packed = await packClient()
const folder = await install(join(root, readdirSync(root).find((name) => name.endsWith('.tgz')) ?? ''))

/** Packs a copy, so that nothing of anyone who runs the tests gets into the package. */
async function packClient(): Promise<readonly string[]> {
  const clone = join(root, 'clone/clients/typescript')
  for (const name of ['package.json', 'tsconfig.json', 'README.md', 'LICENSE', 'src'])
    cpSync(join(CLIENT, name), join(clone, name), { recursive: true })
  cpSync(join(ROOT, 'tsconfig.json'), join(root, 'clone/tsconfig.json'))
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'clone/node_modules'))
  const packing = await runProgram(['npm', 'pack', '--json', '--pack-destination', root], {
    cwd: clone,
    env: USER_ENV,
  })
  if (packing.code !== 0) throw new Error(packing.err)
  return packedFiles(packing.out)
}

async function install(archive: string): Promise<string> {
  const elsewhere = join(root, 'elsewhere')
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'package.json'), '{ "private": true, "type": "module" }\n')
  const program = ['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', archive]
  const installing = await runProgram(program, { cwd: elsewhere, env: USER_ENV })
  if (installing.code !== 0) throw new Error(installing.err)
  return elsewhere
}

test('the package has its program with types, its README and its licence, and nothing else', () => {
  const others = ['LICENSE', 'README.md', 'package.json']
  expect(packed.filter((path) => !path.startsWith('dist/')).sort()).toEqual(others)
  expect(packed).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts']))
  expect(packed.filter((path) => !others.includes(path) && !/\.(js|d\.ts)$/.test(path))).toEqual([])
  expect(read('LICENSE')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'))
})

test('the only dependency of the package has the version with which it is tested', () => {
  const { dependencies } = JSON.parse(read('package.json'))
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect(dependencies).toEqual({ 'openapi-fetch': devDependencies['openapi-fetch'] })
})

/** Compiles programs, as a user's project does, and gives what the compiler says. */
async function compile(programs: readonly string[], ...more: readonly string[]): Promise<string> {
  const files = programs.map((program, at) => {
    const text = `declare const process: { env: Record<string, string | undefined> }\n${program}`
    writeFileSync(join(folder, `start-${at}.ts`), text)
    return `start-${at}.ts`
  })
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const lib = ['--lib', 'es2024,dom,dom.asynciterable']
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2024', ...lib, ...more]
  const { code, out } = await runProgram([process.execPath, tsc, ...options, ...files], {
    cwd: folder,
    env: USER_ENV,
  })
  return `${code} ${out}`
}

test('the first program of the README compiles with the package and no other types, which are in order', async () => {
  const [, program = ''] = /```ts\n([\s\S]*?)```/.exec(read('README.md')) ?? []
  expect(await compile([program])).toBe('0 ')
})

test('the programs of the README for other libraries compile with the package and these libraries', async () => {
  const peers = Object.keys(JSON.parse(read('package.json')).peerDependencies)
  for (const peer of peers) {
    mkdirSync(dirname(join(folder, 'node_modules', peer)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', peer), join(folder, 'node_modules', peer))
  }
  const [, libraries = ''] = /^## Libraries$([\s\S]*?)^## /m.exec(read('README.md')) ?? []
  const programs = [...libraries.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, program = '']) => program)
  expect(programs).toHaveLength(peers.length + 1)
  // The types of the libraries themselves need those of Node.js.
  expect(await compile(programs, '--skipLibCheck')).toBe('0 ')
}, 120_000)

test('other packages can load the entries of the package, and nothing else', async () => {
  const load = (path: string, name: string) =>
    runProgram(
      [
        process.execPath,
        '--input-type=module',
        '-e',
        `console.log(typeof (await import('${path}')).${name})`,
      ],
      { cwd: folder, env: USER_ENV },
    )
  expect((await load('multichain-relayer-client', 'createRelayerClient')).out).toBe('function\n')
  expect((await load('multichain-relayer-client/eip1193', 'createEip1193Provider')).out).toBe('function\n')
  expect((await load('multichain-relayer-client/dist/client.js', 'createRelayerClient')).code).toBe(1)
})
