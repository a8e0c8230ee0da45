import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { readPlugin, untilReady } from '../../support/plugins.ts'
import { API_KEY, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { type Caller, mustOpen, mustRefuse } from '../../support/web-socket.ts'

const FIXTURE = join(import.meta.dirname, 'fixtures/sockets.ts')

let anvil: Anvil
let service: Service

beforeAll(async () => {
  anvil = await startAnvil()
  service = await startService({
    rpcUrls: [anvil.url],
    env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
    plugins: [
      {
        id: 'closed',
        path: FIXTURE,
        mount: '/closed',
        sockets: { key_parameter: 'apiKey' },
        scopes: ['relayers:read', 'transactions:write', 'transactions:read'],
      },
      {
        id: 'open',
        path: FIXTURE,
        mount: '/open',
        open_mount: true,
        sockets: { path: '/events/ws', max: 40, max_per_caller: 20 },
      },
      {
        id: 'deaf',
        path: join(import.meta.dirname, 'fixtures/echo.ts'),
        mount: '/deaf',
        open_mount: true,
        sockets: {},
      },
      { id: 'fragile', path: FIXTURE, mount: '/fragile', open_mount: true, sockets: {}, timeout: 1 },
    ],
  })
  await untilReady(service)
}, 60_000)
afterAll(async () => {
  await service?.stop()
  await anvil?.stop()
})

/** What the plugin has seen of its sockets. */
async function seen(plugin: string, params: object = {}) {
  const { body } = await service.api<{
    open: number
    begun: number
    ends: { code: number; reason: string }[]
  }>('POST', `/plugins/${plugin}/call`, { params })
  return body.data
}

const at = (path: string) => `${service.url}${path}`
const openClosed = () => mustOpen(at('/closed/ws'), { headers: { authorization: `Bearer ${API_KEY}` } })
const openOpen = (query = '') => mustOpen(at(`/open/events/ws${query}`))

async function say({ ws, next }: Caller, text: string): Promise<string> {
  ws.send(text)
  return next()
}

describe('a WebSocket of a plugin', () => {
  test('gets what the plugin sends when it opens, in answers, and outside of calls', async () => {
    const socket = await openOpen('?greet=1&a=2&a=3')
    expect(JSON.parse(await socket.next())).toEqual({
      query: { greet: ['1'], a: ['2', '3'] },
      route: '/events/ws',
      caller: ['(anonymous)'],
    })
    expect(await say(socket, 'hello ✓')).toBe('hello ✓')
    await seen('open', { broadcast: 'to all' })
    expect(await socket.next()).toBe('to all')
    socket.ws.close()
  })

  test('is told to the plugin when it ends, by the caller or by the plugin', async () => {
    const [one, other] = [await openOpen(), await openOpen()]
    one.ws.close(4_000, 'left')
    other.ws.send('close')
    expect(await other.ended).toEqual({ code: 4_002, reason: 'bye' })
    expect(other.received).toEqual([])
    const wanted = [4_000, 4_002]
    const { ends } = await until(
      () => seen('open'),
      (state) => wanted.every((code) => state.ends.some((end) => end.code === code)),
    )
    expect(ends).toContainEqual({ code: 4_000, reason: 'left' })
    expect(ends).toContainEqual({ code: 4_002, reason: 'bye' })
  })

  test('needs the key of a closed mount, in the header or in the query', async () => {
    expect((await mustRefuse(at('/closed/ws'))).status).toBe(401)
    const [byHeader, byQuery] = [
      await openClosed(),
      await mustOpen(at(`/closed/ws?apiKey=${API_KEY}&greet=1`)),
    ]
    expect(JSON.parse(await byQuery.next())).toMatchObject({ query: { greet: ['1'] }, caller: ['root'] })
    expect(await say(byHeader, 'relayers')).toBe('200')
    for (const { ws } of [byHeader, byQuery]) ws.close()
  })

  test('closes when its key ends', async () => {
    const { body } = await service.api<{ secret: string }>('POST', '/api-keys', {
      id: 'short',
      name: 'Short',
      scopes: ['plugins:call'],
    })
    const headers = { authorization: `Bearer ${body.data.secret}` }
    const socket = await mustOpen(at('/closed/ws'), { headers })
    expect(await say(socket, 'in')).toBe('in')
    const begun = performance.now()
    await service.api('DELETE', '/api-keys/short')
    expect(await socket.ended).toMatchObject({ code: 1_008 })
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect((await mustRefuse(at('/closed/ws'), { headers })).status).toBe(401)
  })

  test('that the plugin refuses closes with its words', async () => {
    const { ended } = await openOpen('?refuse=1')
    expect(await ended).toEqual({ code: 1_008, reason: 'not today' })
  })

  test('closes when its function throws, without the reason, which the plugin has in its log', async () => {
    const { ws, ended } = await openOpen()
    ws.send('throw')
    expect(await ended).toEqual({ code: 1_011, reason: 'the plugin failed' })
    expect((await readPlugin(service, 'open')).state.last_failure?.message).toContain('of the plugin alone')
  })

  test('carries deep JSON as text, which only the plugin reads', async () => {
    const socket = await openOpen()
    const text = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
    socket.ws.send(`json ${text}`)
    await Promise.race([socket.next(), socket.ended])
    expect((await readPlugin(service, 'open')).state).toMatchObject({ status: 'ready', restarts: 0 })
    socket.ws.terminate()
  })

  test('is refused where the plugin has no function for messages', async () => {
    expect(await mustRefuse(at('/deaf/ws'))).toMatchObject({
      status: 400,
      body: { code: 'not_supported', error: 'Plugin deaf exports no function on_socket_message.' },
    })
  })

  test('counts against the number of its caller, until its end was told', async () => {
    await until(
      () => readPlugin(service, 'open'),
      ({ state }) => Reflect.get(state, 'sockets') === 0,
    )
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openOpen()))
    expect(await mustRefuse(at('/open/events/ws'))).toMatchObject({
      status: 429,
      body: { code: 'rate_limited' },
    })
    expect((await readPlugin(service, 'open')).state).toMatchObject({ sockets: 20 })
    for (const { ws } of sockets) ws.close()
    await until(
      () => readPlugin(service, 'open'),
      ({ state }) => Reflect.get(state, 'sockets') === 0,
    )
    ;(await openOpen()).ws.close()
  })

  test('whose caller does not read is ended by a plugin that floods, and no other one', async () => {
    const [slow, other] = [await openOpen(), await openOpen()]
    slow.ws.pause()
    slow.ws.send('flood 18000')
    await until(
      () => seen('open'),
      ({ ends }) => ends.some(({ reason }) => reason === 'reads too slowly'),
    )
    expect(await say(other, 'served')).toBe('served')
    for (const { ws } of [slow, other]) ws.terminate()
  })

  test('whose message changes something leaves an entry in the audit log, with the caller', async () => {
    const socket = await openClosed()
    const id = await say(socket, 'transact')
    const { body } = await service.api<{ actor: string; after: object }[]>('GET', '/audit?action=callPlugin')
    expect(body.data).toMatchObject([
      { actor: 'root', after: { route: '/ws', outcome: 'result', requests: 1 } },
    ])
    expect((await service.api('GET', `/relayers/main/transactions/${id}`)).status).toBe(200)
    socket.ws.close()
  })
})

test('a process that ends takes its sockets with 1012, and the next one serves new ones', async () => {
  const socket = await mustOpen(at('/fragile/ws'))
  expect(await say(socket, 'here')).toBe('here')
  await seen('fragile', { crash: true })
  expect(await socket.ended).toEqual({ code: 1_012, reason: 'the plugin starts again' })
  await untilReady(service)
  const next = await mustOpen(at('/fragile/ws'))
  expect(await say(next, 'again')).toBe('again')
  next.ws.close()
})

test('a message that is served for too long closes its socket, and the process ends with its last call', async () => {
  await untilReady(service)
  const [late, other] = [await mustOpen(at('/fragile/ws')), await mustOpen(at('/fragile/ws'))]
  late.ws.send('slow 30000')
  expect((await Promise.all([late.ended, other.ended])).map(({ code }) => code)).toEqual([1_012, 1_012])
  await untilReady(service)
})

test('a plugin that sends without an end is ended, and the service goes on', async () => {
  await untilReady(service)
  const { ws, ended } = await openClosed()
  ws.send('burst Infinity')
  expect(await ended).toMatchObject({ code: 1_012 })
  await untilReady(service)
  expect((await readPlugin(service, 'closed')).state.last_failure?.message).toMatch(
    /messages in a second|memory|blocked/,
  )
})

test('the metrics count open sockets, messages and ends', async () => {
  const { ws, next } = await openOpen()
  ws.send('counted')
  await next()
  const text = await (await fetch(String(service.metricsUrl))).text()
  expect(text).toMatch(/plugin_sockets\{plugin_id="open"\} 1\n/)
  expect(text).toMatch(/plugin_socket_messages_total\{plugin_id="open",direction="received"\} \d+/)
  expect(text).toMatch(/plugin_socket_closes_total\{plugin_id="open",code="1008"\} 1\n/)
  expect(text).toMatch(/plugin_calls_total\{plugin_id="open",method="WEBSOCKET",status="result"\} \d+/)
  ws.close()
})

test('a stop of the service closes sockets with 1001, after which their end is told', async () => {
  const own = await startService({
    rpcUrls: [anvil.url],
    plugins: [{ id: 'front', path: FIXTURE, mount: '/front', open_mount: true, sockets: {} }],
  })
  await untilReady(own)
  const { ended } = await mustOpen(`${own.url}/front/ws`)
  await own.stop()
  expect(await ended).toEqual({ code: 1_001, reason: 'the service is shutting down' })
})

test.each([
  ['WebSockets of a path that is none', { sockets: {} }, /sockets.*needs "mount"/],
  [
    'a path of WebSockets without a slash',
    { mount: '/x', sockets: { path: 'ws' } },
    /sockets\.path.*such as "\/ws"/,
  ],
  ['no sockets', { mount: '/x', sockets: { max: 0 } }, /sockets\.max/],
  ['an unknown field', { mount: '/x', sockets: { [`f${randomUUID()}`]: 1 } }, /sockets/],
])('a configuration with %s stops the start', async (_, entry, sentence) => {
  const plugins = [{ id: 'p', path: FIXTURE, ...entry }]
  await expect(startService({ rpcUrls: [anvil.url], plugins })).rejects.toThrow(sentence)
})
