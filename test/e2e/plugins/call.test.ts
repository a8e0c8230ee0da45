import { createRelayerClient } from 'multichain-relayer-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { copyPlugins, type PluginFolder, untilReady } from '../../support/plugins.ts'
import { API_KEY, DEV_ADDRESSES, RECEIVER, type Service, startService } from '../../support/service.ts'

const folder: PluginFolder = copyPlugins()

let anvil: Anvil
let service: Service

beforeAll(async () => {
  anvil = await startAnvil()
  service = await startService({
    rpcUrls: [anvil.url],
    plugins: [
      {
        id: 'main',
        path: folder.path('every-thing.ts'),
        allow_get_invocation: true,
        config: { currency: 'EUR' },
        forward_headers: ['X-Client'],
        relayers: ['main'],
      },
      { id: 'older', path: folder.path('two-parameters.ts') },
      { id: 'oldest', path: folder.path('run-plugin.ts') },
      { id: 'bytes', path: folder.path('raw-body.ts'), raw_body: true, allow_get_invocation: true },
      { id: 'raw', path: folder.path('every-thing.ts'), raw_response: true },
      { id: 'telling', path: folder.path('every-thing.ts'), emit_logs: true, emit_traces: true },
      {
        id: 'counting',
        path: folder.path('every-thing.ts'),
        rules: { user_limits: [{ per: 'day', value: '10' }] },
      },
      { id: 'reader', path: folder.path('every-thing.ts'), scopes: ['relayers:read'] },
    ],
  })
  await untilReady(service)
}, 60_000)
afterAll(async () => {
  await service?.stop()
  await anvil?.stop()
  folder.remove()
})

const call = (id: string, route: string, params?: unknown, headers?: Record<string, string>) =>
  service.api<never>('POST', `/plugins/${id}/call${route}`, { params }, headers)

describe('a handler', () => {
  test('gets parameters, query, configuration and the listed headers, and no credential', async () => {
    const { status, body } = await service.api<never>(
      'POST',
      '/plugins/main/call?a=1&a=2',
      { params: { n: 1 } },
      {
        'x-client': 'me',
        'x-other': 'hidden',
        cookie: 'session=1',
      },
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({
      success: true,
      data: {
        params: { n: 1 },
        method: 'POST',
        query: { a: ['1', '2'] },
        config: { currency: 'EUR' },
        speed: 'fast',
      },
    })
    const { headers } = body.data as { headers: Record<string, string[]> }
    expect(headers['x-client']).toEqual(['me'])
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['authorization']))
    expect(headers).not.toHaveProperty('cookie')
    expect(headers).not.toHaveProperty('x-other')
  })

  test('gets the body as it arrived, if its entry asks for that', async () => {
    const text = '{ "params": {"b": 1.0,  "a": "\\u0041"} }'
    const response = await fetch(`${service.url}/api/v1/plugins/bytes/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: text,
    })
    expect(await response.json()).toMatchObject({ data: { body: text } })
    expect(await service.api('GET', '/plugins/bytes/call')).toMatchObject({ body: { data: { body: null } } })
  })

  test('is called by the TypeScript client, with any query', async () => {
    const client = createRelayerClient({ baseUrl: service.url, apiKey: API_KEY })
    const options = { route: '', query: { currency: 'EUR', limit: '3' } }
    expect(await client.plugins.call('main', { params: { n: 1 } }, options)).toMatchObject({
      params: { n: 1 },
      query: { currency: ['EUR'], limit: ['3'], route: [''] },
    })
  })

  test('gets the whole body if it has no params', async () => {
    const { body } = await service.api<never>('POST', '/plugins/main/call', { x402Version: 2 })
    expect(body.data).toMatchObject({ params: { x402Version: 2 } })
  })

  test('is called with GET where that is allowed', async () => {
    const allowed = await service.api<never>('GET', '/plugins/main/call')
    expect(allowed.body.data).toMatchObject({ method: 'GET', params: {} })
    const refused = await service.api<never>('GET', '/plugins/older/call')
    expect(refused.status).toBe(405)
    expect(refused.headers.get('allow')).toBe('POST, OPTIONS')
  })

  test('sends a transaction with the key of the plugin, and waits for it', async () => {
    const { body } = await call('main', '/send', {
      relayer: 'main',
      transaction: { to: RECEIVER, value: 1, speed: 'fast' },
    })
    expect(body.data).toMatchObject({
      relayer_id: 'main',
      status: expect.stringMatching(/mined|confirmed/),
      same: true,
    })
    const { body: audit } = await service.api<{ actor: string; action: string }[]>('GET', '/audit?limit=100')
    expect(audit.data.map(({ actor, action }) => `${actor} ${action}`)).toEqual(
      expect.arrayContaining(['plugin.main sendTransaction', 'root callPlugin']),
    )
  })

  test('reads a relayer and asks its node, which leaves nothing in the audit log', async () => {
    const { body } = await call('main', '/read', { relayer: 'main' })
    expect(body.data).toMatchObject({ address: DEV_ADDRESSES[0], hasBalance: true, chain: '0x7a69' })
    const { body: audit } = await service.api<{ action: string; after?: { route?: string } }[]>(
      'GET',
      '/audit?limit=100',
    )
    const routes = audit.data.filter(({ action }) => action === 'callPlugin').map(({ after }) => after?.route)
    expect(routes).toContain('/send')
    expect(routes).not.toContain('/read')
  })

  test('does not see a relayer beyond its list', async () => {
    const { status, body } = await call('main', '/read', { relayer: 'other' })
    expect(status).toBe(500)
    expect(body).toMatchObject({ success: false, code: 'plugin_failed' })
    const { body: shown } = await service.api<{ state: { last_failure: { message: string } } }>(
      'GET',
      '/plugins/main',
    )
    expect(shown.data.state.last_failure.message).toContain('There is no relayer other.')
  })

  test('cannot do more than its scopes', async () => {
    const { status } = await call('reader', '/send', {
      relayer: 'main',
      transaction: { to: RECEIVER, value: 1 },
    })
    expect(status).toBe(500)
    const { body } = await service.api<{ state: { last_failure: { message: string } } }>(
      'GET',
      '/plugins/reader',
    )
    expect(body.data.state.last_failure.message).toContain('lacks the scope transactions:write')
  })

  test('keeps values and holds locks', async () => {
    expect((await call('main', '/kv', { n: 1 })).body.data).toEqual({
      known: [{ n: 1 }, null, true, ['a:1', 'a:2']],
      removed: true,
      left: 1,
    })
    expect((await call('main', '/lock')).body.data).toEqual({ busy: null, free: 'mine' })
  })

  test('refuses in its own words', async () => {
    const { status, body } = await call('main', '/refuse')
    expect(status).toBe(404)
    expect(body).toEqual({
      success: false,
      data: { code: 'UNKNOWN_USER', details: { user: 'bob' } },
      message: 'Not Found',
      error: 'no such user',
      code: 'plugin_failed',
    })
  })

  test('of an older form works', async () => {
    expect((await call('older', '', { relayer: 'main' })).body.data).toEqual({ address: DEV_ADDRESSES[0] })
    expect((await call('oldest', '', { n: 21 })).body.data).toBe(42)
  })

  test('answers with the whole body under raw_response', async () => {
    const { body } = await call('raw', '/kv', { n: 'b' })
    expect(body).toMatchObject({ removed: true })
  })

  test('shows logs and traces where the settings say so', async () => {
    const { body } = await call('telling', '/log')
    expect(body.metadata).toEqual({
      logs: [
        { level: 'log', message: 'one { two: 2 }' },
        { level: 'error', message: 'three' },
      ],
      traces: [],
    })
    const traced = await call('telling', '/read', { relayer: 'main' })
    expect(traced.body.metadata).toMatchObject({
      traces: [
        { method: 'GET', path: '/api/v1/relayers/main', status: 200 },
        { method: 'GET', path: '/api/v1/relayers/main/status', status: 200 },
        { method: 'POST', path: '/api/v1/relayers/main/rpc', status: 200 },
      ],
    })
  })

  test('names the user for whom it sends, within the limits of each user', async () => {
    const send = (value: number, userId?: string) =>
      call('counting', '/request', {
        method: 'POST',
        path: '/api/v1/relayers/main/transactions',
        body: { to: RECEIVER, value, speed: 'fast' },
        userId,
      })
    expect((await send(9, 'alice')).body.data).toMatchObject({ status: 200 })
    expect((await send(9, 'bob')).body.data).toMatchObject({ status: 200 })
    expect((await send(9, 'alice')).body.data).toMatchObject({ status: 400, body: { code: 'rule_violated' } })
    expect((await send(1)).body.data).toMatchObject({ status: 400, body: { code: 'rule_violated' } })
  })

  test('has an empty environment', async () => {
    expect((await call('main', '/environment')).body.data).toEqual({})
  })
})
