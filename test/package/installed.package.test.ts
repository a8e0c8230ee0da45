import { readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { installPackage, USER_ENV } from './install-package.ts'
import { runProgram, startProgram } from './run-program.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

const { folder, packed, said } = await installPackage()
afterAll(() => rmSync(dirname(folder), { recursive: true }))

const installed = join(folder, 'node_modules/multichain-relayer')
const env = { ...USER_ENV, APP_PORT: '0', RELAYER_SHUTDOWN_GRACE_SECONDS: '0' }
const npx = (...args: string[]) => runProgram(['npx', 'multichain-relayer', ...args], { cwd: folder, env })

/** Starts the service, and asks it for paths with the key that `init` made. */
async function withService<T>(use: (ask: (path: string) => Promise<Response>) => Promise<T>): Promise<T> {
  const service = await startProgram(['npx', 'multichain-relayer', 'serve'], { cwd: folder, env })
  const [, key = ''] = /^API_KEY=(.*)$/m.exec(readFileSync(join(folder, 'config/.env'), 'utf8')) ?? []
  try {
    return await use((path) => fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } }))
  } finally {
    await service.stop()
  }
}

test('the package has what the program needs, its documents, and no source, no test and no configuration', () => {
  expect(packed).toEqual(
    expect.arrayContaining([
      'dist/main.js',
      'dist/initial-database.gz',
      'dist/openapi.json',
      'dist/redoc.js',
      'dist/redoc.js.LICENSE.txt',
      'openapi.yaml',
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
    ]),
  )
  expect(
    packed.filter((path) =>
      /^(src|test|scripts|config|data|generated)\/|\.map$|\.env$|^(?!examples\/).*\.tsx?$/.test(path),
    ),
  ).toEqual([])
})

test('npm installs it without an error or a deprecated package', () => {
  expect(said).toContain('added')
  expect(said).not.toMatch(/npm error|ERR!|deprecated/)
})

test('npm finds no script of the package that would need a permission', () => {
  expect(said).not.toContain('run-prepare')
})

test('the sizes that the README and the FAQ tell are those of the installation', async () => {
  const check = [process.execPath, join(ROOT, 'scripts/check-sizes.ts'), folder]
  const { code, out, err } = await runProgram(check, { cwd: folder, env })
  expect([code, err], out).toEqual([0, ''])
})

test('npx starts the command in the folder of the user', async () => {
  expect(await npx('--version')).toMatchObject({ code: 0, out: `${version}\n` })
  const made = await npx('init')
  expect(made.code).toBe(0)
  expect(made.out).toContain('  npx multichain-relayer serve\n')
})

test('the service answers, with the reference page and the contract of the package', async () => {
  await withService(async (ask) => {
    const list = (await (await ask('/api/v1/relayers')).json()) as { data: readonly { id: string }[] }
    expect(list.data.map(({ id }) => id)).toEqual(['local-1'])
    expect(await (await ask('/docs')).text()).toContain('/docs/redoc.js?v=')
    const program = await ask('/docs/redoc.js')
    expect([program.status, (await program.text()).length > 500_000]).toEqual([200, true])
    const [script = ''] = /\/console\/assets\/[\w-]+\.js/.exec(await (await ask('/console')).text()) ?? []
    expect((await ask(script)).headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(await (await ask('/openapi.yaml')).text()).toBe(
      readFileSync(join(installed, 'openapi.yaml'), 'utf8'),
    )
  })
})

test('other packages can read the contract, and nothing else', async () => {
  const ask = (path: string) =>
    runProgram([process.execPath, '-p', `require.resolve('${path}')`], { cwd: folder, env })
  expect((await ask('multichain-relayer/openapi.yaml')).out.trim()).toBe(join(installed, 'openapi.yaml'))
  expect((await ask('multichain-relayer/package.json')).code).toBe(0)
  expect((await ask('multichain-relayer/dist/app.js')).code).toBe(1)
})

test('pruned to what it loads, it has at most 150 MB and still sends on all three kinds of networks', async () => {
  const prune = await runProgram(
    [process.execPath, join(ROOT, 'scripts/prune-modules.ts'), join(folder, 'node_modules')],
    { cwd: folder, env },
  )
  const [, megabytes] = /(\d+) MB after/.exec(prune.out) ?? []
  expect(Number(megabytes)).toBeLessThanOrEqual(150)
  const demo = [process.execPath, join(ROOT, 'scripts/demo.ts'), '--program', join(installed, 'dist/main.js')]
  expect(await runProgram(demo, { cwd: folder, env: USER_ENV })).toMatchObject({ code: 0, err: '' })
})

test('without the program of the reference page, the page says where the document is', async () => {
  rmSync(join(installed, 'dist/redoc.js'))
  await withService(async (ask) => {
    expect(await (await ask('/docs')).text()).toContain('<a href="/openapi.yaml">')
    expect((await ask('/docs/redoc.js')).status).toBe(404)
  })
})

test('without the embedded database, the start names the variable that is missing', async () => {
  rmSync(join(folder, 'node_modules/@electric-sql'), { recursive: true })
  const { code, err } = await npx('serve')
  expect(code).toBe(2)
  expect(err).toContain('DATABASE_URL is missing')
  expect(err).toContain('set DATABASE_URL to a PostgreSQL, or install without --omit=optional')
})
