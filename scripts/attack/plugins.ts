import { copyPlugins, readPlugin, untilReady } from '../../test/support/plugins.ts'
import type { Random } from '../../test/support/random.ts'
import { API_KEY, type Service, startService } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'
import { type Attack, createTally, type Tally } from './attack.ts'

/** The result of one way out of the attacking plugin. */
interface Tried {
  readonly got?: unknown
  readonly refused?: string
}

/** Ways that must end in a refusal, with their parameters. */
const REFUSED: readonly (readonly [string, object])[] = [
  ...[
    '/etc/passwd',
    '/proc/self/maps',
    '/proc/1/environ',
    `/proc/${process.pid}/environ`,
    `/proc/${process.pid}/mem`,
  ].map((path) => ['file', { path }] as const),
  ...['/', '/proc', '/tmp', process.cwd()].map((path) => ['folder', { path }] as const),
  ['write', { path: '/tmp/relayer-plugin-attack' }],
  ['signal-parent', {}],
  ['signal-import', {}],
  ['signal-require', {}],
  ['signal-hidden', {}],
  ['debug-parent', {}],
  ['program', {}],
  ['worker', {}],
  ['binding', {}],
  ['addon', {}],
]

/** Ways that end the process of the plugin, and nothing else. */
const ENDING = [
  'heap',
  'buffers',
  'message-flood',
  'endless-line',
  'garbage',
  'header-smuggling',
  'other-server',
  'loop',
] as const

/** A plugin whose author is an enemy tries to leave its process, to fill or to stop the service, and to use the rights of others. */
export const plugins: Attack = {
  name: 'plugins',
  deadlineMs: 240_000,
  run: async ({ random }) => {
    const tally = createTally()
    const folder = copyPlugins()
    const path = folder.path('attacker.ts')
    const entry = { path, memory_mb: 32, timeout: 30, scopes: ['plugins:call'] }
    const service = await startService({
      rpcUrls: [],
      relayers: [],
      plugins: ['enemy', 'victim', ...ENDING].map((id) => ({ id, ...entry })),
    })
    try {
      await untilReady(service)
      for (const [way, params] of inAnyOrder(random, REFUSED))
        await tryToLeave(service, tally, { way, params })
      await useOthers(service, tally)
      for (const way of inAnyOrder(random, ENDING)) await exhaust(service, tally, way)
    } finally {
      await service.stop()
      folder.remove()
    }
    return tally.report()
  },
}

async function tryToLeave(
  service: Service,
  tally: Tally,
  { way, params }: { way: string; params: object },
): Promise<void> {
  const { body } = await service.api<Tried>('POST', `/plugins/enemy/call/${way}`, { params })
  tally.check(
    body.data?.refused !== undefined,
    () => `a plugin got out by ${way} ${JSON.stringify(params)}: ${JSON.stringify(body)}`,
  )
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
  const call = service.api<Tried>('POST', `/plugins/${way}/call/${way}`, {})
  // The service answers others meanwhile.
  const start = performance.now()
  const health = await service.api('GET', '/plugins/victim')
  const ms = performance.now() - start
  tally.check(
    health.status === 200 && ms < 5_000,
    () => `${way}: the service answered after ${Math.round(ms)} ms`,
  )
  const { status } = await call
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
