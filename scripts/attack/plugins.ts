import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocketServer } from 'ws'
import { type Escape, escapesOf } from '../../test/support/plugin-escapes.ts'
import { copyPlugins, readPlugin, untilReady } from '../../test/support/plugins.ts'
import type { Random } from '../../test/support/random.ts'
import { API_KEY, type Service, startService } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'
import { type Attack, createTally, type Tally } from './attack.ts'
import { watchHealth } from './watch.ts'

/** The result of one way out of the attacking plugin. */
interface Tried {
  readonly got?: unknown
  readonly refused?: string
}

/** Ways that end the process of the plugin, and nothing else. */
const ENDING = [
  'heap',
  'buffers',
  'message-flood',
  'endless-line',
  'garbage',
  'bombs',
  'smuggling-flood',
  'loop',
] as const

/** Bytes by which the database may grow while a plugin fills it with locks. */
const MAX_GROWTH = 16 * 1024 * 1024

/** A plugin whose author is an enemy tries to leave its process, to fill or to stop the service, and to use the rights of others. */
export const plugins: Attack = {
  name: 'plugins',
  deadlineMs: 240_000,
  run: async ({ random }) => {
    const tally = createTally()
    const folder = copyPlugins()
    const dataDir = mkdtempSync(join(tmpdir(), 'relayer-attack-'))
    const path = folder.path('attacker.ts')
    const entry = { path, timeout: 30, scopes: ['plugins:call'] }
    const service = await startService({
      rpcUrls: [],
      relayers: [],
      dataDir,
      // What a plugin prepares for an attack with many bytes must not end it first.
      plugins: ['enemy', 'victim', 'locks', ...ENDING].map((id) => ({
        id,
        ...entry,
        memory_mb: /flood|bombs|locks/.test(id) ? 256 : 32,
      })),
    })
    try {
      await untilReady(service)
      const before = filesOf(dataDir)
      const canary = join(tmpdir(), `relayer-plugin-attack-${process.pid}`)
      for (const way of inAnyOrder(random, escapesOf(canary))) await tryToLeave(service, tally, way)
      tally.check(!existsSync(canary), () => 'a plugin made a file or a socket')
      tally.check(
        filesOf(dataDir) === before,
        () => `a plugin made files in the data folder: ${before} became ${filesOf(dataDir)}`,
      )
      await useOthers(service, tally)
      await fillWithLocks(service, tally, dataDir)
      for (const way of inAnyOrder(random, ENDING)) await exhaust(service, tally, way)
    } finally {
      await service.stop()
      folder.remove()
      rmSync(dataDir, { recursive: true, force: true })
    }
    await serveFromHostileHost(tally)
    return tally.report()
  },
}

/** The names in the data folder and in the folder of the database. */
function filesOf(dataDir: string): string {
  return [dataDir, join(dataDir, 'pglite')].flatMap((folder) => readdirSync(folder).sort()).join()
}

async function tryToLeave(service: Service, tally: Tally, [what, way, params]: Escape): Promise<void> {
  const { body } = await service.api<Tried>('POST', `/plugins/enemy/call/${way}`, { params })
  tally.check(
    body.data?.refused !== undefined,
    () => `a plugin ${what} ${JSON.stringify(params)}: ${JSON.stringify(body)}`,
  )
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

/** Locks with long owners, and locks without number that end at once. */
async function fillWithLocks(service: Service, tally: Tally, dataDir: string): Promise<void> {
  const before = sizeOf(dataDir)
  const fill = (params: object) => service.api<Tried>('POST', '/plugins/locks/call/lock-fill', { params })
  await fill({ number: 15, length: 7 * 1024 * 1024, ttlSec: 0.001 })
  await fill({ number: 3_000, length: 64, ttlSec: 0.001 })
  await fill({ number: 5_000, length: 64, ttlSec: 600 })
  const held = { params: { key: `lock:${2_000_000 + 4_999}` } }
  await until(
    () => service.api<Tried>('POST', '/plugins/locks/call/lock-held', held),
    ({ body }) => body.data?.got === null,
  )
  const grown = sizeOf(dataDir) - before
  tally.note(`8,015 locks grew the database by ${Math.round(grown / 1024)} KiB`)
  tally.check(grown < MAX_GROWTH, () => `locks grew the database by ${grown} bytes`)
}

/** A host of plugins that is an enemy sends messages that would take hundreds of megabytes when they are parsed. */
async function serveFromHostileHost(tally: Tally): Promise<void> {
  const bomb = `{"type":"result","run":1,"value":[${'[],'.repeat(5_000_000)}[]]}`
  const host = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(host, 'listening')
  host.on('connection', (socket) => {
    socket.on('error', () => undefined)
    for (let at = 0; at < 30; at += 1) socket.send(bomb)
  })
  const { port } = host.address() as AddressInfo
  const service = await startService({
    rpcUrls: [],
    relayers: [],
    env: { RELAYER_PLUGINS_URL: `ws://127.0.0.1:${port}`, RELAYER_PLUGINS_SECRET: 's'.repeat(32) },
    plugins: [{ id: 'away', path: 'away.ts' }],
  })
  const health = watchHealth(tally, service.url)
  const before = process.memoryUsage().rss
  try {
    await until(
      () => readPlugin(service, 'away'),
      ({ state }) => state.restarts > 1,
    )
    const grown = process.memoryUsage().rss - before
    // Both ends are in this process, and what was sent is in memory once for each of them.
    tally.note(`a hostile host made this process ${Math.round(grown / 1024 / 1024)} MiB larger`)
    const { state } = await readPlugin(service, 'away')
    tally.check(
      state.last_failure?.message.includes('refused') === true,
      () => `a hostile host was ended because: ${state.last_failure?.message}`,
    )
  } finally {
    await health.stop()
    await service.stop()
    for (const client of host.clients) client.terminate()
    host.close()
  }
}

/** The values of another plugin, the credentials of the caller, the variables of the service, and itself, again and again. */
async function useOthers(service: Service, tally: Tally): Promise<void> {
  await service.api('POST', '/plugins/victim/call/kv-write', { params: { key: 'secret', value: 'mine' } })
  const call = (route: string, body: object, headers = {}) =>
    service.api<Tried>('POST', `/plugins/enemy/call/${route}`, body, headers)
  for (const key of ['secret', '../victim/secret', 'victim:secret', '%', '*', "' or '1'='1"]) {
    const { body } = await call('kv-read', { params: { key } })
    tally.check(body.data?.got !== 'mine', () => `a plugin read the value of another one as ${key}`)
  }
  const seen = await call('headers', {}, { cookie: 'session=secret', 'x-relayer-plugin-depth': '0' })
  tally.check(
    !/secret|bearer/i.test(JSON.stringify(seen.body.data)),
    () => 'a plugin saw a credential of its caller',
  )
  tally.check(!JSON.stringify(seen.body).includes(API_KEY), () => 'a plugin saw the API key of its caller')
  const { body: environment } = await call('environment', {})
  tally.check(JSON.stringify(environment.data?.got) === '{}', () => 'a plugin saw variables of the service')
  const { body: rights } = await call('rights', { params: { method: 'GET', path: '/api/v1/relayers' } })
  tally.check(
    JSON.stringify(rights.data).includes('insufficient_scope'),
    () => 'a plugin did more than its scopes allow',
  )
  const { body: depth } = await call('again', { params: { id: 'enemy' } })
  tally.check(
    JSON.stringify(depth.data).includes('at most 4 deep'),
    () => 'a plugin called itself without an end',
  )
  const { body: full } = await call('kv-fill', {})
  tally.check(full.data?.refused === 'KV_FULL', () => `a plugin filled the database: ${JSON.stringify(full)}`)
}

async function exhaust(service: Service, tally: Tally, way: string): Promise<void> {
  // The service answers others meanwhile.
  const health = watchHealth(tally, service.url)
  const { status } = await service.api<Tried>('POST', `/plugins/${way}/call/${way}`, {})
  await health.stop()
  tally.check(status === 500 || status === 504, () => `${way}: the call was answered with ${status}`)
  const { state } = await until(
    () => readPlugin(service, way),
    (plugin) => plugin.state.status === 'ready' && plugin.state.restarts > 0,
  )
  tally.check(state.running === 0, () => `${way}: ${state.running} calls still run in a process that ended`)
  const other = await service.api<Tried>('POST', '/plugins/victim/call/environment', {})
  tally.check(other.status === 200, () => `${way}: another plugin answered ${other.status}`)
}

function inAnyOrder<T>(random: Random, items: readonly T[]): T[] {
  const drawn = items.map((item) => ({ item, at: random.int(0, 1_000_000) }))
  return drawn.sort((one, other) => one.at - other.at).map(({ item }) => item)
}
