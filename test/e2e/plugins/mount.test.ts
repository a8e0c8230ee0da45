import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { API_KEY, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const FIXTURE = join(import.meta.dirname, 'fixtures/echo.ts')

let anvil: Anvil
let service: Service
let narrowKey: string

beforeAll(async () => {
  anvil = await startAnvil()
  const shared = { path: FIXTURE, raw_response: true, allow_get_invocation: true }
  service = await startService({
    rpcUrls: [anvil.url],
    plugins: [
      { ...shared, id: 'closed', mount: '/pay' },
      { ...shared, id: 'open', mount: '/open', open_mount: true, cors_origins: ['https://wallet.example'] },
      { ...shared, id: 'public', mount: '/public', open_mount: true, cors_origins: ['*'] },
      { ...shared, id: 'unmounted' },
    ],
  })
  for (const id of ['closed', 'open'])
    await until(
      async () => (await service.api<{ state: { status: string } }>('GET', `/plugins/${id}`)).body.data,
      ({ state }) => state.status === 'ready',
    )
  const created = await service.api<{ secret: string }>('POST', '/api-keys', {
    id: 'narrow',
    name: 'Narrow',
    scopes: ['transactions:read'],
  })
  narrowKey = created.body.data.secret
}, 60_000)
afterAll(async () => {
  await service?.stop()
  await anvil?.stop()
})

interface Seen {
  readonly method: string
  readonly route: string
  readonly query: Record<string, string[]>
  readonly headers: Record<string, string[]>
  readonly code?: string
}

async function ask(
  path: string,
  {
    key,
    method = 'GET',
    headers = {},
  }: { key?: string; method?: string; headers?: Record<string, string> } = {},
) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      ...headers,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(method === 'POST' && { 'content-type': 'application/json' }),
    },
    ...(method === 'POST' && { body: '{"n":1}' }),
  })
  return { status: response.status, body: (await response.json()) as Seen }
}

/** Asks as a browser does for a page of this origin, and returns what it may do. */
async function corsOf(path: string, origin: string, { method = 'POST', key = '' } = {}) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      origin,
      ...(method === 'OPTIONS' && {
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      }),
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      ...(key !== '' && { authorization: `Bearer ${key}` }),
    },
    ...(method === 'POST' && { body: '{}' }),
  })
  const { headers, status } = response
  await response.text()
  const names = ['allow-origin', 'allow-methods', 'allow-headers'].map((name) => `access-control-${name}`)
  return [status, ...names.map((name) => headers.get(name))]
}

describe('a page of another origin', () => {
  const wallet = 'https://wallet.example'

  test('may call the short path of a plugin that lists its origin, and reads its refusals too', async () => {
    const preflight = await corsOf('/open/rpc', wallet, { method: 'OPTIONS' })
    expect(preflight).toEqual([204, wallet, 'GET, POST', 'content-type,x-api-key'])
    expect(await corsOf('/open/rpc', wallet)).toEqual([200, wallet, null, null])
    expect(await corsOf('/open/rpc', wallet, { key: 'wrong' })).toEqual([401, wallet, null, null])
    expect((await corsOf('/public/rpc', 'https://any.example')).slice(0, 2)).toEqual([200, '*'])
  })

  test.each([
    ['another origin', '/open/rpc', 'https://other.example'],
    ['an origin that only looks alike', '/open/rpc', 'https://wallet.example.evil.example'],
    ['a plugin that lists none', '/pay/rpc', wallet],
    ['the longer path', '/api/v1/plugins/open/call/rpc', wallet],
  ])('may not call with %s', async (_, path, origin) => {
    for (const method of ['OPTIONS', 'POST'])
      expect((await corsOf(path, origin, { method })).slice(1)).toEqual([null, null, null])
  })
})

describe('the short path of a plugin', () => {
  test('calls its routes with an API key, and says whose', async () => {
    const { status, body } = await ask('/pay/verify/twice?a=1', { key: API_KEY, method: 'POST' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      method: 'POST',
      route: '/verify/twice',
      query: { a: ['1'] },
      headers: { 'x-relayer-api-key-id': ['root'] },
    })
  })

  test.each([
    ['without a key', {}, 401, 'unauthorized'],
    ['with a wrong key', { key: 'wrong' }, 401, 'unauthorized'],
  ])('is closed %s', async (_, options, status, code) => {
    expect(await ask('/pay/verify', options)).toMatchObject({ status, body: { code } })
  })

  test('needs the scope of the longer path', async () => {
    expect(await ask('/pay/verify', { key: narrowKey })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    })
  })

  test('is open without a key where the operator says so, and a caller cannot choose whose key it seems to be', async () => {
    const forged = { 'x-relayer-api-key-id': 'root', 'x-relayer-caller-address': '10.1.2.3' }
    const { status, body } = await ask('/open/supported', { headers: forged })
    expect([status, body.route, body.headers['x-relayer-api-key-id']]).toEqual([
      200,
      '/supported',
      ['(anonymous)'],
    ])
    expect(body.headers['x-relayer-caller-address']).toEqual(['127.0.0.1'])
    expect((await ask('/open/supported', { method: 'POST' })).status).toBe(200)
  })

  test('takes a key that is sent seriously also where it is open', async () => {
    expect(await ask('/open/supported', { key: 'wrong' })).toMatchObject({ status: 401 })
    expect(await ask('/open/supported', { key: narrowKey })).toMatchObject({ status: 403 })
    const { body } = await ask('/open/supported', { key: API_KEY })
    expect(body.headers['x-relayer-api-key-id']).toEqual(['root'])
    expect(body.headers).not.toHaveProperty('x-relayer-caller-address')
  })

  test('opens nothing else: neither the longer path, nor other plugins, nor paths above', async () => {
    const paths = [
      '/api/v1/plugins/open/call/supported',
      '/api/v1/plugins',
      '/open',
      '/open/',
      '/unmounted/x',
      '/open/../api/v1/relayers',
      '/open%2Fx',
    ]
    for (const path of paths) expect([path, (await ask(path)).status]).toEqual([path, 401])
  })

  test('is part of the record of the plugin', async () => {
    const { body } = await service.api<{ mount?: string; open_mount?: boolean }>('GET', '/plugins/open')
    expect(body.data).toMatchObject({ mount: '/open', open_mount: true })
    const { body: other } = await service.api<object>('GET', '/plugins/unmounted')
    expect(Object.keys(other.data)).not.toContain('mount')
  })
})

test.each([
  ['a path of the service', [{ mount: '/api' }], /mount.*a path of one segment/],
  ['a path of two segments', [{ mount: '/pay/now' }], /mount.*a path of one segment/],
  ['origins of a path that is none', [{ cors_origins: ['*'] }], /cors_origins.*needs "mount"/],
  [
    'an origin with a path',
    [{ mount: '/x', cors_origins: ['https://app.example/'] }],
    /cors_origins\[0\].*an origin such as/,
  ],
  ['an open path that is none', [{ open_mount: true }], /open_mount.*needs "mount"/],
  [
    'the path of another plugin',
    [{ mount: '/pay' }, { mount: '/pay' }],
    /"\/pay" is that of more than one plugin/,
  ],
])('a configuration with %s stops the start', async (_, entries, sentence) => {
  const plugins = entries.map((entry, index) => ({ id: `p${index}`, path: FIXTURE, ...entry }))
  await expect(startService({ rpcUrls: [anvil.url], plugins })).rejects.toThrow(sentence)
})
