import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLogger } from '../../../src/log.ts'
import { NO_HOOKS } from '../../../src/plugins/hooks/hook.ts'
import { servePlugins } from '../../../src/plugins/remote.ts'
import { createDataDir } from '../../support/data-dir.ts'
import { freePort } from '../../support/free-port.ts'
import {
  copyPlugins,
  type PluginFolder,
  readPlugin,
  type ShownPlugin,
  untilReady,
} from '../../support/plugins.ts'
import { type Service, type ServiceOptions, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let folder: PluginFolder
const stops: (() => Promise<void> | void)[] = []

beforeEach(() => {
  folder = copyPlugins()
})
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
  folder.remove()
})

async function start(plugins: readonly object[], options: Partial<ServiceOptions> = {}): Promise<Service> {
  const service = await startService({ rpcUrls: [], relayers: [], plugins, ...options })
  stops.push(() => service.stop())
  if (options.env?.RELAYER_PLUGINS_URL === undefined) await untilReady(service)
  return service
}

const call = (service: Service, route: string, params: object = {}) =>
  service.api<never>('POST', `/plugins/main/call${route}`, { params })

describe('a call', () => {
  test('that takes too long is 504, and its process is replaced; other calls finish', async () => {
    const service = await start([{ id: 'main', path: folder.path('every-thing.ts'), timeout: 1 }])
    const never = call(service, '/never')
    await until(
      () => readPlugin(service, 'main'),
      (plugin) => plugin.state.running === 1,
    )
    await setTimeout(500)
    const other = call(service, '/wait', { ms: 900 })
    const late = await never
    expect(late.status).toBe(504)
    expect(late.body).toMatchObject({
      success: false,
      message: 'Gateway Timeout',
      error: 'The plugin did not answer within 1 s.',
      code: 'plugin_timeout',
      data: { code: 'TIMEOUT', details: null },
    })
    expect((await other).body.data).toBe('done')
    const { state } = await until(
      () => readPlugin(service, 'main'),
      (plugin) => plugin.state.status === 'ready',
    )
    expect(state).toMatchObject({ restarts: 1, running: 0, failures: '1' })
    expect((await call(service, '')).status).toBe(200)
  })

  test('in a process that ends is 500, and the reason is for the operator alone', async () => {
    const service = await start([{ id: 'main', path: folder.path('every-thing.ts') }])
    const { status, body } = await call(service, '/exit')
    expect(status).toBe(500)
    expect(body).toMatchObject({
      error: 'The plugin failed. Its log has the reason.',
      data: { code: 'PLUGIN_ERROR' },
    })
    const { state } = await readPlugin(service, 'main')
    expect(state.last_failure?.message).toBe('The process exited with 7.')
  })

  test('with too much, or a result that is too large, is refused', async () => {
    const service = await start([{ id: 'main', path: folder.path('every-thing.ts') }])
    const large = await call(service, '', { text: 'x'.repeat(256 * 1024) })
    expect([large.status, large.body.code]).toEqual([400, 'body_too_large'])
    const answer = await call(service, '/big', { bytes: 4 * 1024 * 1024 })
    expect([answer.status, answer.body.code]).toEqual([500, 'plugin_failed'])
    const fits = await call(service, '/big', { bytes: 4 * 1024 * 1024 - 2 })
    expect(fits.status).toBe(200)
  })

  test('keeps integers beyond 2^53 as decimal digits', async () => {
    const service = await start([{ id: 'main', path: folder.path('every-thing.ts') }])
    const { body } = await service.api<never>(
      'POST',
      '/plugins/main/call',
      '{"params":{"value":340282366920938463463374607431768211455}}',
    )
    expect(body.data).toMatchObject({ params: { value: '340282366920938463463374607431768211455' } })
  })

  test('of an unknown plugin is 404', async () => {
    const service = await start([])
    const { status, body } = await call(service, '')
    expect([status, body.code]).toEqual([404, 'plugin_not_found'])
    expect((await service.api('GET', '/plugins')).body.data).toEqual([])
  })
})

describe('settings', () => {
  const main = { id: 'main', timeout: 5, config: { currency: 'EUR' } }

  test('are changed over the API, survive a restart, and yield to a changed entry of the file', async () => {
    const dataDir = await createDataDir()
    const path = folder.path('every-thing.ts')
    const first = await start([{ ...main, path }], { dataDir })
    const changed = await first.api<ShownPlugin>('PATCH', '/plugins/main', {
      timeout: 7,
      config: null,
      emit_logs: true,
    })
    expect(changed.body.data).toMatchObject({ timeout: 7, emit_logs: true })
    expect(changed.body.data).not.toHaveProperty('config')
    expect((await call(first, '/log')).body.metadata?.logs).toHaveLength(2)
    const audit = await first.api<{ action: string; before: object; after: object }[]>(
      'GET',
      '/audit?limit=100',
    )
    expect(audit.body.data.find(({ action }) => action === 'updatePlugin')).toMatchObject({
      target_type: 'plugin',
      target_id: 'main',
      before: { timeout: 5, emit_logs: false, config: { currency: 'EUR' } },
      after: { timeout: 7, emit_logs: true },
    })
    await stops.pop()?.()

    const second = await start([{ ...main, path }], { dataDir })
    expect(await readPlugin(second, 'main')).toMatchObject({ timeout: 7 })
    await stops.pop()?.()

    const third = await start([{ ...main, path, timeout: 9 }], { dataDir })
    expect(await readPlugin(third, 'main')).toMatchObject({
      timeout: 9,
      config: { currency: 'EUR' },
      emit_logs: false,
    })
  })

  test('keep a configuration with any names and texts, in the audit log with U+FFFD for what it cannot store', async () => {
    const service = await start([{ ...main, path: folder.path('every-thing.ts') }])
    const config = { 'a\u0000': { $int: '7', text: 'b\u0000' }, '\u0001': [null, -2.5] }
    const { status, body } = await service.api<ShownPlugin>('PATCH', '/plugins/main', { config })
    expect([status, body.data]).toEqual([200, expect.objectContaining({ config })])
    expect(await readPlugin(service, 'main')).toMatchObject({ config })
    const audit = await service.api<{ action: string; after: object }[]>('GET', '/audit?limit=100')
    expect(audit.body.data.find(({ action }) => action === 'updatePlugin')?.after).toMatchObject({
      config: { 'a\ufffd': { $int: '7', text: 'b\ufffd' } },
    })
  })

  test('are refused if they name code, rights or the environment, or are no settings', async () => {
    const service = await start([{ ...main, path: folder.path('every-thing.ts') }])
    for (const [patch, field] of [
      [{ path: 'other.ts' }, 'body.path'],
      [{ env: ['HOME'] }, 'body.env'],
      [{ scopes: ['api-keys:admin'] }, 'body.scopes'],
      [{ timeout: 0 }, 'body.timeout'],
      [{ config: 3 }, 'body.config'],
      [{}, 'body'],
    ] as const) {
      const { status, body } = await service.api('PATCH', '/plugins/main', patch)
      expect([status, body.error]).toEqual([400, expect.stringContaining(field)])
    }
  })
})

describe('the API key of a plugin', () => {
  test('is a record that only the file changes, and ends with the plugin', async () => {
    const dataDir = await createDataDir()
    const plugin = { id: 'main', path: folder.path('every-thing.ts'), scopes: ['relayers:read'] }
    const first = await start([plugin], { dataDir })
    const shown = await first.api('GET', '/api-keys/plugin.main')
    expect(shown.body.data).toMatchObject({
      created_by: 'configuration',
      scopes: ['relayers:read'],
      secrets: [],
    })
    for (const [method, path, body] of [
      ['PATCH', '/api-keys/plugin.main', { scopes: ['api-keys:admin'] }],
      ['POST', '/api-keys/plugin.main/rotate', {}],
      ['DELETE', '/api-keys/plugin.main', undefined],
    ] as const) {
      const { status, body: answer } = await first.api(method, path, body)
      expect([status, answer.error]).toEqual([
        400,
        'API key plugin.main belongs to a plugin, so only the configuration file can change it.',
      ])
    }
    const taken = await first.api('POST', '/api-keys', {
      id: 'plugin.other',
      name: 'x',
      scopes: ['relayers:read'],
    })
    expect(taken.status).toBe(409)
    await stops.pop()?.()

    const second = await start([], { dataDir })
    expect((await second.api('GET', '/api-keys/plugin.main')).status).toBe(404)
    await stops.pop()?.()

    const third = await start([plugin], { dataDir })
    expect((await third.api('GET', '/api-keys/plugin.main')).status).toBe(200)
    expect((await call(third, '/request', { method: 'GET', path: '/api/v1/relayers' })).status).toBe(200)
  })
})

test('a plugin that does not compile stops the start with the reason', async () => {
  await expect(start([{ id: 'broken', path: folder.path('broken.ts') }])).rejects.toThrow(
    /plugin "broken": .*broken\.ts does not compile: /,
  )
})

describe('plugins on another host', () => {
  const secret = 'a-shared-secret-of-thirty-two-characters'

  test('serve the same calls, with the key and the store of the service', async () => {
    const port = await freePort()
    const host = await servePlugins(hostSettings(port), createLogger({ level: 'silent' }))
    stops.push(() => host.stop())
    const env = { RELAYER_PLUGINS_URL: `ws://127.0.0.1:${port}`, RELAYER_PLUGINS_SECRET: secret }
    const service = await start([{ id: 'main', path: 'elsewhere.ts', scopes: ['relayers:read'] }], { env })
    await untilReady(service)
    expect((await call(service, '/kv', { n: 1 })).body.data).toMatchObject({ removed: true, left: 1 })
    const listed = await call(service, '/request', { method: 'GET', path: '/api/v1/relayers' })
    expect(listed.body.data).toMatchObject({ status: 200, body: { success: true, data: [] } })
    expect((await call(service, '/exit')).status).toBe(500)
    expect((await readPlugin(service, 'main')).state.last_failure?.message).toBe('The process exited with 7.')
  })

  test('are 503 while the host is away, and return with it', async () => {
    const port = await freePort()
    const env = { RELAYER_PLUGINS_URL: `ws://127.0.0.1:${port}`, RELAYER_PLUGINS_SECRET: secret }
    const service = await start([{ id: 'main', path: 'elsewhere.ts' }], { env })
    const { status, headers } = await until(
      () => call(service, ''),
      (answer) => answer.status === 503,
    )
    expect([status, headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
    const host = await servePlugins(hostSettings(port), createLogger({ level: 'silent' }))
    stops.push(() => host.stop())
    await untilReady(service)
    expect((await call(service, '')).status).toBe(200)
  })

  test('need the secret', async () => {
    const port = await freePort()
    const host = await servePlugins(hostSettings(port), createLogger({ level: 'silent' }))
    stops.push(() => host.stop())
    const env = { RELAYER_PLUGINS_URL: `ws://127.0.0.1:${port}`, RELAYER_PLUGINS_SECRET: `${secret}!` }
    const service = await start([{ id: 'main', path: 'elsewhere.ts' }], { env })
    const { state } = await until(
      () => readPlugin(service, 'main'),
      (plugin) => plugin.state.last_failure !== undefined,
    )
    expect(state.last_failure?.message).toContain('401')
  })

  const hostSettings = (port: number) => ({
    secret,
    host: '127.0.0.1',
    port,
    plugins: [
      {
        id: 'main',
        path: 'every-thing.ts',
        file: folder.path('every-thing.ts'),
        settings: {} as never,
        rights: { scopes: [], visibility: {} },
        env: {},
        memoryMb: 64,
        forwardHeaders: [],
        rawBody: false,
        hooks: NO_HOOKS,
      },
    ],
  })
})
