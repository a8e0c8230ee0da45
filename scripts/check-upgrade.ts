/**
 * `npm run check:upgrade` lets the last release fill a data folder, starts this one on it, and compares. What
 * was accepted is there as it was, open transactions and schedules go on, and nothing is sent twice. Without a
 * release it says so. `--from <commit>` takes another commit than the last tag.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { startProgram } from '../test/package/run-program.ts'
import { anvilNetwork, ON_ANVIL, startAnvil } from '../test/support/anvil.ts'
import {
  API_KEY,
  callService,
  DEV_ADDRESSES,
  DEV_KEYS,
  plainSigner,
  RECEIVER,
} from '../test/support/service.ts'
import { until } from '../test/support/until.ts'
import { ROOT } from './clients/paths.ts'
import { readOptions } from './read-options.ts'

const { values } = readOptions({ options: { from: { type: 'string' } } })
const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()

/** The newest tag that is not that of this commit; undefined before the second release. */
function lastRelease(): string | undefined {
  const own = new Set(git('tag', '--points-at', 'HEAD').split('\n'))
  return git('tag', '--list', 'v*', '--sort=-version:refname', '--merged')
    .split('\n')
    .find((tag) => tag !== '' && !own.has(tag))
}

/** Installs a commit into a folder. Where it has the dependencies of this one, they are used. */
function install(commit: string, folder: string): void {
  mkdirSync(folder)
  const files = execFileSync('git', ['archive', '--format=tar', commit], { cwd: ROOT, maxBuffer: 2 ** 30 })
  execFileSync('tar', ['--extract', '--directory', folder], { input: files })
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8')
  if (lock(folder) !== lock(ROOT)) execFileSync('npm', ['ci'], { cwd: folder, stdio: 'inherit' })
  else symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}

interface Release {
  call<Data>(method: string, path: string, body?: object): Promise<Data>
  stop(): Promise<void>
}

async function start(root: string, folder: string): Promise<Release> {
  const env = {
    PATH: process.env.PATH,
    API_KEY,
    HOST: '127.0.0.1',
    APP_PORT: '0',
    CONFIG_DIR: folder,
    DATA_DIR: join(folder, 'data'),
    STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
  }
  const program = [process.execPath, join(root, 'scripts/relayer.mjs'), 'serve']
  const { url, stop } = await startProgram(program, { cwd: folder, env })
  return {
    call: async <Data>(method: string, path: string, body?: object) => {
      const answer = await callService<Data>(url, { method, path, body })
      if (!answer.body.success) throw new Error(`${method} ${path}: ${answer.body.error}`)
      return answer.body.data
    },
    stop,
  }
}

interface Known {
  readonly id: string
  readonly status: string
}

/** Where the records are that have to stay, with all their fields. */
const LISTS = [
  '/relayers',
  '/notifications',
  '/networks?per_page=1',
  '/api-keys',
  '/schedules',
  '/relayers/main/transactions',
]

/** Fields that tell of this moment. */
const MOVING = /^(balance|health|head|last_used_at|accounts|updated_at)/

/** Tells which fields of the old answers are gone or say something else. New ones may be there. */
function lost(before: unknown, after: unknown, path: string): string[] {
  if (Array.isArray(before))
    return before.flatMap((one, index) =>
      lost(one, (after as readonly unknown[] | undefined)?.[index], `${path}[${index}]`),
    )
  if (typeof before !== 'object' || before === null)
    return isDeepStrictEqual(before, after) ? [] : [`${path} was ${before}, and is ${after}`]
  return Object.entries(before).flatMap(([name, value]) =>
    MOVING.test(name)
      ? []
      : lost(value, (after as Record<string, unknown> | undefined)?.[name], `${path}.${name}`),
  )
}

const release = values.from ?? lastRelease()
if (release === undefined) {
  console.log('there is no earlier release to upgrade from')
  process.exit()
}
const folder = mkdtempSync(join(tmpdir(), 'relayer-upgrade-'))
const old = join(folder, 'old')
install(release, old)
const anvil = await startAnvil({ args: ['--block-time', '1'] })
writeFileSync(
  join(folder, 'config.json'),
  JSON.stringify({
    relayers: [{ id: 'main', name: 'Main', signer_id: 'dev', notification_id: 'ops', ...ON_ANVIL }],
    signers: [plainSigner('dev', DEV_KEYS[0])],
    notifications: [{ id: 'ops', type: 'webhook', url: 'http://127.0.0.1:9/hook' }],
    networks: [anvilNetwork([anvil.url])],
  }),
)
const problems: string[] = []
try {
  const PATH = '/relayers/main/transactions'
  const payment = { to: RECEIVER, value: '1', speed: 'fast' }
  const before = await start(old, folder)
  const send = (body: object) => before.call<Known>('POST', PATH, { ...payment, ...body })
  const done = await send({})
  await until(
    () => before.call<Known>('GET', `${PATH}/${done.id}`),
    ({ status }) => status === 'confirmed',
  )
  // Longer than the stop and the start take; after it, the new release sends what the old one has accepted.
  const later = await send({ valid_from: new Date(Date.now() + 20_000).toISOString() })
  await before.call('POST', '/relayers/main/schedules', {
    name: 'Nightly',
    cron: '0 3 * * *',
    transaction: payment,
  })
  await before.call('POST', '/api-keys', { name: 'Reader', scopes: ['transactions:read'] })
  const told = await Promise.all(LISTS.map((path) => before.call<object>('GET', path)))
  await before.stop()

  const after = await start(ROOT, folder)
  for (const [index, path] of LISTS.entries())
    problems.push(...lost(told[index], await after.call('GET', path), path))
  const next = await after.call<Known>('POST', PATH, payment)
  for (const { id } of [next, later])
    await until(
      () => after.call<Known>('GET', `${PATH}/${id}`),
      ({ status }) => status === 'confirmed',
      { timeoutMs: 60_000 },
    )
  await after.stop()
  const count = Number(await anvil.rpc<string>('eth_getTransactionCount', [DEV_ADDRESSES[0], 'latest']))
  if (count !== 3) problems.push(`the account has sent ${count} transactions instead of 3`)
} finally {
  await anvil.stop()
  rmSync(folder, { recursive: true })
}
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else console.log(`the data of ${release} goes on in this version`)
