import { expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { principalOf } from '../../src/access/principal.ts'
import { until } from '../support/until.ts'
import { type Caller, mustOpen, mustRefuse } from '../support/web-socket.ts'
import { frame, handshake, isEnd, startSockets } from './socket-stub.ts'
import { API_KEY, ask, BEARER, rawExchange } from './stub-server.ts'

/** The code of the closing frame that a server has sent last. */
function closeCode(bytes: Buffer): number | undefined {
  const at = bytes.lastIndexOf(0x88)
  return at < 0 ? undefined : bytes.readUInt16BE(at + 2)
}

test('a socket passes texts in order, both ways, and its end', async () => {
  const { open, told } = await startSockets()
  const { ws, next, ended } = await open()
  for (const text of ['one', 'zwei ✓', '']) ws.send(text)
  expect([await next(), await next(), await next()]).toEqual(['one', 'zwei ✓', ''])
  ws.close(4_321, 'done')
  expect(await ended).toEqual({ code: 4_321, reason: 'done' })
  await until(async () => told.at(-1), isEnd)
  expect(told).toEqual(['one', 'zwei ✓', '', { code: 4_321, reason: 'done' }])
})

test('messages of one socket are served one after another', async () => {
  let running = 0
  let most = 0
  const { open } = await startSockets({
    onMessage: async (text, peer) => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 1))
      running -= 1
      peer.send(text)
    },
  })
  const { ws, received } = await open()
  const sent = Array.from({ length: 100 }, (_, index) => String(index))
  for (const text of sent) ws.send(text)
  await until(
    async () => received.length,
    (count) => count === 100,
  )
  expect([received, most]).toEqual([sent, 1])
})

test('a binary message closes its socket with 1003', async () => {
  const { open, told } = await startSockets()
  const { ws, ended } = await open()
  ws.send(Buffer.from('bytes'))
  expect(await ended).toMatchObject({ code: 1_003 })
  expect(told.filter((one) => typeof one === 'string')).toEqual([])
})

test('the access log has one line for a socket, and none of its query', async () => {
  const { url, open, lines } = await startSockets()
  await open()
  await mustOpen(`${url}?token=of-the-query`)
  expect(lines.filter(({ msg }) => msg === 'request')).toMatchObject([{ status: 101 }, { status: 101 }])
  expect(JSON.stringify(lines)).not.toContain('of-the-query')
})

test('a socket at any other path is refused with an answer of HTTP, after the credential', async () => {
  const { url, port } = await startSockets()
  const base = url.replace('/front/ws', '')
  const headers = { authorization: BEARER }
  for (const path of ['/front/other', '/front/ws/deeper', '/nothing', '/api/v1/relayers', '/console'])
    expect([path, (await mustRefuse(base + path)).status]).toEqual([path, 401])
  for (const path of ['/front/other', '/nothing', '/api/v1/relayers'])
    expect(await mustRefuse(base + path, { headers })).toMatchObject({
      status: 400,
      body: { code: 'not_supported' },
    })
  expect(
    (await ask(port, { path: '/api/v1/health', headers: { upgrade: 'h2c', connection: 'upgrade' } })).status,
  ).toBe(200)
})

test.each([
  ['without its key', { 'sec-websocket-version': '13' }],
  ['of another version', { 'sec-websocket-version': '8', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }],
  ['with a key of another length', { 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAA' }],
])('a handshake %s is 400', async (_, headers) => {
  const { port } = await startSockets()
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket' }
  const {
    status,
    json,
    headers: answered,
  } = await ask(port, { path: '/front/ws', headers: { ...upgrade, ...headers } })
  expect([status, json?.code, answered['sec-websocket-version']]).toEqual([400, 'invalid_request', '13'])
})

test('a handshake with a body, or of another method, is no request for a socket', async () => {
  const { port } = await startSockets()
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', authorization: BEARER }
  const post = await ask(port, { method: 'POST', path: '/front/ws', headers: upgrade, body: '{}' })
  expect([post.status, post.json?.code]).toEqual([400, 'not_supported'])
  const answer = await rawExchange(
    port,
    `GET /front/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\nContent-Length: 2\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n{}`,
  )
  expect(answer).toMatch(/^HTTP\/1.1 40\d /)
})

test('a closed mount needs the key in the header, and takes none of the query or of cookies', async () => {
  const { url } = await startSockets({ isOpen: false })
  expect(await mustRefuse(url)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
  expect((await mustRefuse(`${url}?apiKey=${API_KEY}`)).status).toBe(401)
  expect((await mustRefuse(url, { headers: { cookie: `__Host-relayer_session=${API_KEY}` } })).status).toBe(
    401,
  )
  expect((await mustRefuse(url, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401)
  const { ws, next } = await mustOpen(url, { headers: { authorization: BEARER } })
  ws.send('in')
  expect(await next()).toBe('in')
})

test('a mount that asks for it takes the key of the query, which no log and no session gets', async () => {
  const { url, requests, lines } = await startSockets({ isOpen: false, keyParameter: 'apiKey' })
  await mustOpen(`${url}?a=1&apiKey=${API_KEY}&a=2`)
  expect(requests[0]).toMatchObject({ actor: { keyId: 'root' }, route: '/ws', query: { a: ['1', '2'] } })
  expect(Object.keys(requests[0]?.query ?? {})).toEqual(['a'])
  expect(JSON.stringify(lines)).not.toContain(API_KEY)
  expect((await mustRefuse(`${url}?apiKey=wrong`)).status).toBe(401)
  expect((await mustRefuse(`${url}?apiKey=${API_KEY}&apiKey=x`)).status).toBe(401)
  expect(
    (await mustRefuse(`${url}?apiKey=${API_KEY}`, { headers: { authorization: 'Bearer x' } })).status,
  ).toBe(401)
})

test('an open mount takes a key that is sent seriously', async () => {
  const { url, requests } = await startSockets({ keyParameter: 'apiKey' })
  expect((await mustRefuse(`${url}?apiKey=wrong`)).status).toBe(401)
  await mustOpen(url)
  await mustOpen(`${url}?apiKey=${API_KEY}`)
  expect(requests.map(({ actor }) => actor.keyId)).toEqual(['(anonymous)', 'root'])
})

test('a key without the scope is refused, and one whose rights end loses its sockets', async () => {
  const end = new AbortController()
  const scopes = (hash: string) => (hash.startsWith('0') ? [] : (['plugins:call'] as const))
  const { url } = await startSockets({
    isOpen: false,
    findKey: (hash) => principalOf('narrow', { scopes: scopes(hash), visibility: {} }, end.signal),
  })
  const keys = Array.from({ length: 60 }, (_, index) => `key-${index}`)
  const outcomes = await Promise.all(
    keys.map((key) =>
      mustOpen(url, { headers: { authorization: `Bearer ${key}` } }).catch((error: Error) => error),
    ),
  )
  const opened = outcomes.filter((outcome) => !(outcome instanceof Error))
  expect(outcomes.filter((outcome) => outcome instanceof Error).map(String)).toContainEqual(
    expect.stringContaining('insufficient_scope'),
  )
  end.abort()
  for (const caller of opened) expect(await (caller as Caller).ended).toMatchObject({ code: 1_008 })
})

test('a page connects only from an origin that the mount lists', async () => {
  const { url } = await startSockets({ corsOrigins: ['https://wallet.example'] })
  await mustOpen(url, { origin: 'https://wallet.example' })
  for (const origin of [
    'https://evil.example',
    'https://wallet.example.evil.example',
    'null',
    new URL(url).origin,
  ])
    expect([origin, (await mustRefuse(url, { origin })).status]).toEqual([origin, 401])
  const closed = await startSockets({ isOpen: false })
  const headers = { authorization: BEARER }
  expect((await mustRefuse(closed.url, { origin: 'https://evil.example', headers })).status).toBe(401)
  const any = await startSockets({ corsOrigins: ['*'] })
  await mustOpen(any.url, { origin: 'https://any.example' })
})

test('an address has as many sockets as the mount allows, and callers without a key half of all', async () => {
  const { open, url, told } = await startSockets({ most: { all: 5, perCaller: 2 } })
  const [first] = [await open(), await open()]
  expect(await mustRefuse(url)).toMatchObject({
    status: 429,
    body: { code: 'rate_limited' },
    headers: { 'retry-after': '5' },
  })
  first?.ws.close()
  await until(
    async () => told.length,
    (count) => count === 1,
  )
  await open()

  const crowded = await startSockets({ most: { all: 4, perCaller: 10 } })
  await Promise.all([crowded.open(), crowded.open()])
  expect((await mustRefuse(crowded.url)).body.error).toContain('too many WebSockets')
  const headers = { authorization: BEARER }
  await Promise.all([mustOpen(crowded.url, { headers }), mustOpen(crowded.url, { headers })])
  expect((await mustRefuse(crowded.url, { headers })).status).toBe(429)
})

test('messages and pings count as requests of the caller', async () => {
  for (const act of [(ws: WebSocket) => ws.send('x'), (ws: WebSocket) => ws.ping()]) {
    const { open, told } = await startSockets({ rateLimit: { perSecond: 1, burst: 20 } })
    const { ws, ended } = await open()
    for (let count = 0; count < 40; count += 1) act(ws)
    expect(await ended).toEqual({ code: 1_008, reason: 'too many messages, try again in 1 s' })
    expect(told.length).toBeLessThanOrEqual(20)
  }
})

test('a caller that sends much more than is served is closed', async () => {
  const stop = Promise.withResolvers<void>()
  const { port, told } = await startSockets({
    onMessage: () => stop.promise,
    rateLimit: { perSecond: 1e6, burst: 1e6 },
  })
  const { socket, closed } = await handshake(port)
  socket.write(Buffer.concat(Array.from({ length: 400 }, () => frame(1, Buffer.from('x')))))
  await closed
  stop.resolve()
  await until(async () => told.at(-1), isEnd)
  expect(told.at(-1)).toEqual({ code: 1_008, reason: 'at most 256 messages can wait' })
})

test('a caller that sends while its message is served waits in the connection', async () => {
  const stop = Promise.withResolvers<void>()
  const { port, told } = await startSockets({ onMessage: () => stop.promise })
  const { socket } = await handshake(port)
  const message = frame(1, Buffer.alloc(60_000, 'x'))
  // 60 MB would be 1000 messages.
  let count = 0
  const fill = () => {
    while (count < 1_000 && socket.write(message)) count += 1
  }
  socket.on('drain', fill)
  fill()
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(count).toBeLessThan(1_000)
  expect(told).toHaveLength(1)
  socket.destroy()
  stop.resolve()
})

test.each([
  ['a frame that says it has 1 GB', () => [frame(1, Buffer.alloc(0), { length: 2 ** 30 })], 1_009],
  ['a frame that says it has 2^60 bytes', () => [frame(1, Buffer.alloc(0), { length: 2 ** 60 })], 1_009],
  ['a message of 64 KiB and a byte', () => [frame(1, Buffer.alloc(65_537, 'x'))], 1_009],
  [
    'fragments of 128 KiB together',
    () => [
      frame(1, Buffer.alloc(32_768, 'x'), { isLast: false }),
      ...Array.from({ length: 3 }, () => frame(0, Buffer.alloc(32_768, 'x'), { isLast: false })),
    ],
    1_009,
  ],
  [
    '1000 fragments of a byte',
    () => [
      frame(1, Buffer.from('x'), { isLast: false }),
      ...Array.from({ length: 1_000 }, () => frame(0, Buffer.from('x'), { isLast: false })),
    ],
    1_008,
  ],
  ['text that is no UTF-8', () => [frame(1, Buffer.from([0xc3, 0x28]))], 1_007],
  ['a frame of a reserved type', () => [frame(5, Buffer.alloc(0))], 1_002],
  ['a continuation of nothing', () => [frame(0, Buffer.from('x'))], 1_002],
  ['a frame without a mask', () => [Buffer.from([0x81, 0x01, 0x78])], 1_002],
])('%s closes the socket', async (_, frames, code) => {
  const { port, told } = await startSockets()
  const { socket, bytes, closed } = await handshake(port)
  for (const piece of frames()) socket.write(piece)
  await closed
  expect(closeCode(bytes())).toBe(code)
  await until(async () => told.at(-1), isEnd)
  expect(told.filter((one) => !isEnd(one))).toEqual([])
})

test('fragments of a message become one text', async () => {
  const { port, told } = await startSockets()
  const { socket } = await handshake(port)
  const text = Buffer.from('{"half":"✓"}')
  for (const [index, byte] of text.entries())
    socket.write(frame(index === 0 ? 1 : 0, Buffer.from([byte]), { isLast: index === text.length - 1 }))
  await until(
    async () => told.length,
    (count) => count === 1,
  )
  expect(told).toEqual([String(text)])
  socket.destroy()
})

test('a caller that does not read is ended, and what it left unread is freed', async () => {
  const { port, peers, told } = await startSockets()
  const { socket } = await handshake(port)
  socket.pause()
  await until(
    async () => peers.length,
    (count) => count === 1,
  )
  let sent = 0
  const text = 'x'.repeat(64 * 1024)
  while (!told.some(isEnd) && sent < 1_000) {
    peers[0]?.send(text)
    sent += 1
    await new Promise((resolve) => setImmediate(resolve))
  }
  // What the kernel buffers comes on top of 1 MiB.
  expect(sent).toBeLessThan(300)
  expect(told).toEqual([{ code: 1_006, reason: 'reads too slowly' }])
  socket.destroy()
})

test('callers that read get every message of a session that sends much', async () => {
  const { open, peers } = await startSockets()
  const { received } = await open()
  await until(
    async () => peers.length,
    (count) => count === 1,
  )
  for (let count = 0; count < 50; count += 1) {
    peers[0]?.send('x'.repeat(64 * 1024))
    await until(
      async () => received.length,
      (arrived) => arrived === count + 1,
    )
  }
})

test('a socket that gives no sign of life is ended, and one that answers pings stays', async () => {
  const { port, open, told } = await startSockets({ limits: { socketPingMs: 100 } })
  const lively = await open()
  const dead = await handshake(port)
  const begun = performance.now()
  await dead.closed
  expect(performance.now() - begun).toBeLessThan(2_000)
  await until(async () => told.at(-1), isEnd)
  expect(told).toEqual([{ code: 1_006, reason: 'does not answer pings' }])
  await new Promise((resolve) => setTimeout(resolve, 500))
  lively.ws.send('still here')
  expect(await lively.next()).toBe('still here')
})

test('a shutdown closes every socket with 1001, and does not wait for those that do not answer', async () => {
  const { port, server, open, told } = await startSockets()
  const { ended } = await open()
  const stubborn = await handshake(port)
  stubborn.socket.pause()
  const begun = performance.now()
  await server.drain({ deadlineMs: 10_000 })
  expect(performance.now() - begun).toBeLessThan(4_000)
  expect(await ended).toEqual({ code: 1_001, reason: 'the service is shutting down' })
  await until(
    async () => told.length,
    (count) => count === 2,
  )
  stubborn.socket.destroy()
})
