import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { escapesOf } from '../../support/plugin-escapes.ts'
import { copyPlugins, type PluginFolder, readPlugin, untilReady } from '../../support/plugins.ts'
import { API_KEY, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** [what it does, the way and the id of the plugin, the reason for the end of its process] */
const EXHAUSTING: [string, string, string][] = [
  ['floods the pipe', 'message-flood', 'messages in a second'],
  ['sends a line without an end', 'endless-line', 'message'],
  ['reads nothing of what it asks for', 'unread', 'did not read'],
  ['sends garbage', 'garbage', 'no message'],
  ['sends bombs of lists', 'bombs', 'refused'],
  ['sends requests that are none', 'smuggling-flood', 'refused'],
  ['fills the heap', 'heap', 'heap'],
  ['fills the memory beside the heap', 'buffers', 'memory'],
]

let folder: PluginFolder
let service: Service

beforeAll(async () => {
  folder = copyPlugins()
  const path = folder.path('attacker.ts')
  service = await startService({
    rpcUrls: [],
    relayers: [],
    plugins: [
      {
        id: 'enemy',
        path,
        memory_mb: 32,
        timeout: 15,
        scopes: ['plugins:call'],
        forward_headers: ['x-mine'],
      },
      { id: 'victim', path },
      // The messages of a flood must not fill the heap first.
      ...EXHAUSTING.map(([, id]) => ({ id, path, memory_mb: /flood|bombs/.test(id) ? 256 : 32 })),
    ],
  })
  await untilReady(service)
}, 60_000)
afterAll(async () => {
  await service?.stop()
  folder?.remove()
})

const attack = (way: string, params: object = {}, headers: Record<string, string> = {}) =>
  service.api<{ got?: never; refused?: string }>('POST', `/plugins/enemy/call/${way}`, { params }, headers)

const REASONS = {
  denied: 'ERR_ACCESS_DENIED',
  'no function': expect.stringContaining('not a function'),
  nothing: 'nothing',
  refused: expect.any(String),
}

/** Nothing may make this file, and nothing may listen there. */
const CANARY = join(tmpdir(), `relayer-plugin-was-here-${process.pid}`)

describe('a hostile plugin', () => {
  test.each(escapesOf(CANARY))('%s: refused', async (_what, way, params, reason = 'denied') => {
    const { body } = await attack(way, params)
    expect(body.data).toEqual({ refused: REASONS[reason] })
    expect(existsSync(CANARY)).toBe(false)
  })

  test('sees no variable and no credential', async () => {
    expect((await attack('environment')).body.data).toEqual({ got: {} })
    const { body } = await attack(
      'headers',
      {},
      { cookie: 'session=1', 'x-mine': 'yes', 'proxy-authorization': 'Basic eA==' },
    )
    expect(JSON.stringify(body)).not.toContain(API_KEY)
    expect(Object.keys(body.data.got ?? {}).sort()).toEqual([
      'content-type',
      'user-agent',
      'x-mine',
      'x-relayer-api-key-id',
      'x-request-id',
    ])
  })

  test('cannot reach the values of another plugin', async () => {
    await service.api('POST', '/plugins/victim/call/kv-write', { params: { key: 'secret', value: 'mine' } })
    expect((await attack('kv-read', { key: 'secret' })).body.data).toEqual({ got: null })
    for (const key of ['../victim/secret', 'victim/secret', "x' or '1'='1", ''])
      expect((await attack('kv-read', { key })).body.data).toEqual({ refused: 'KV_INVALID_KEY' })
  })

  test('cannot smuggle headers into its requests, or send them elsewhere', async () => {
    for (const way of ['header-smuggling', 'other-server'])
      expect((await attack(way)).body.data).toEqual({ refused: 'INVALID_REQUEST' })
  })

  test('has the rights of its own key alone', async () => {
    const { body } = await attack('rights', { method: 'GET', path: '/api/v1/relayers' })
    expect(body.data).toMatchObject({ got: { success: false, code: 'insufficient_scope' } })
    const own = await attack('rights', { method: 'GET', path: '/api/v1/current-api-key' })
    expect(own.body.data).toMatchObject({ got: { data: { id: 'plugin.enemy', scopes: ['plugins:call'] } } })
  })

  test('that calls itself ends', async () => {
    const { body } = await service.api<{ got: { depth: number; last: string } }>(
      'POST',
      '/plugins/enemy/call/again',
      {
        params: { id: 'enemy' },
      },
    )
    expect(JSON.stringify(body.data)).toContain('Plugins can call each other at most 4 deep.')
  })

  test.each(['-1', '-1e9', '4', 'none'])(
    'calls with the depth %s, which its caller chose: refused',
    async (depth) => {
      const { status, body } = await attack('environment', {}, { 'x-relayer-plugin-depth': depth })
      expect([status, body.code]).toEqual([400, 'invalid_request'])
    },
  )

  test('logs a line without the runtime, and the service keeps its beginning', async () => {
    await attack('long-line')
    const { state } = await until(
      () => readPlugin(service, 'enemy'),
      ({ state }) => state.logs?.at(-1)?.message.startsWith('lll') === true,
    )
    expect(state.logs?.at(-1)?.message).toBe('l'.repeat(8_192))
  })

  test('floods the log, and the service keeps the newest lines', async () => {
    expect((await attack('log-flood')).body.data).toEqual({ got: 'done' })
    expect((await readPlugin(service, 'enemy')).state.logs).toHaveLength(100)
  })

  // Each has a process of its own, because one that has just ended starts again later and later.
  test.each(EXHAUSTING)('%s: its process ends, and the service goes on', async (_what, way, reason) => {
    const call = (route: string) => service.api<never>('POST', `/plugins/${way}/call/${route}`, {})
    const { status, body } = await call(way)
    expect([status, body.code]).toEqual([500, 'plugin_failed'])
    expect((await readPlugin(service, way)).state.last_failure?.message).toContain(reason)
    expect((await service.api<never>('POST', '/plugins/victim/call/environment', {})).status).toBe(200)
    const { state } = await until(
      () => readPlugin(service, way),
      ({ state }) => state.status === 'ready',
    )
    expect(state.restarts).toBe(1)
    expect((await call('environment')).status).toBe(200)
  })
})

test('a plugin whose process ends at once is 503, starts again later and later, and the reason is shown', async () => {
  const waiting = await startService({
    rpcUrls: [],
    relayers: [],
    plugins: [{ id: 'ends', path: folder.path('ends-at-start.ts') }],
  })
  try {
    const { state } = await until(
      () => readPlugin(waiting, 'ends'),
      (plugin) => plugin.state.restarts > 1 && plugin.state.status === 'waiting',
    )
    expect(state.last_failure?.message).toContain('the database of this plugin is away')
    const { status, headers, body } = await until(
      () => waiting.api('POST', '/plugins/ends/call', {}),
      (answer) => answer.status === 503,
    )
    expect([status, body.code]).toEqual([503, 'plugin_unavailable'])
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  } finally {
    await waiting.stop()
  }
})
