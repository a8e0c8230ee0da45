import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createPeers } from '../../src/http/connections/peer.ts'
import type { HandlerMap } from '../../src/http/handler.ts'
import { createHttpServer } from '../../src/http/server.ts'
import { createAddressList, isAddressRange } from '../../src/lib/http/address-list.ts'
import { ask, BEARER, call, rawExchange, startSharedStub, startStub, stubOptions } from './stub-server.ts'

/** The bucket holds one request and does not refill within a test. */
const ONE_REQUEST = { rateLimit: { perSecond: 0.001, burst: 1 } }

const SIGN = '/api/v1/relayers/r/sign'

/** The head of a request whose body never arrives: the server answers it only if it does not wait for the body. */
const WITHOUT_BODY = `POST ${SIGN} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\nConnection: close\r\n`

describe('the stages of an operation', () => {
  test('the rate limit counts a request before the credential is refused', async () => {
    const { port } = await startStub(ONE_REQUEST)
    expect((await ask(port, { method: 'POST', path: SIGN })).status).toBe(401)
    expect((await ask(port, { method: 'POST', path: SIGN })).status).toBe(429)
  })

  test('the credential is refused before the body is read', async () => {
    const { port } = await startStub()
    expect(await rawExchange(port, `${WITHOUT_BODY}\r\n`)).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('the rate limit refuses a request before the body is read', async () => {
    const { port } = await startStub(ONE_REQUEST)
    await call(port, 'GET', '/api/v1/relayers')
    const answer = await rawExchange(port, `${WITHOUT_BODY}Authorization: ${BEARER}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 429 /)
  })

  test('the body is read before the path is validated', async () => {
    const { port } = await startStub()
    const reply = await call(port, 'POST', '/api/v1/relayers/%00/sign', '{')
    expect([reply.status, reply.json?.code]).toEqual([400, 'invalid_json'])
  })

  test('the handler receives valid requests only', async () => {
    let calls = 0
    const sign: HandlerMap['signMessage'] = async () => {
      calls += 1
      throw new Error('called')
    }
    const { port } = await startStub({ handlers: { signMessage: sign } })
    expect((await call(port, 'POST', SIGN, { message: 1 })).status).toBe(400)
    expect(calls).toBe(0)
    expect((await call(port, 'POST', SIGN, { message: 'x' })).status).toBe(500)
    expect(calls).toBe(1)
  })
})

describe('paths outside the operations', () => {
  test.each([
    ['GET', '/api/v1/nothing', 404],
    ['GET', '/api/v1/%zz', 404],
    ['PUT', '/api/v1/relayers', 405],
  ])('%s %s: the rate limit and the credential come before %i', async (method, path, status) => {
    const { port } = await startStub(ONE_REQUEST)
    expect((await ask(port, { method, path })).status).toBe(401)
    expect((await ask(port, { method, path })).status).toBe(429)
    expect((await call(port, method, path)).status).toBe(status)
  })
})

describe('the transaction of a log line', () => {
  const linesOf = async (method: string, path: string, body?: unknown) => {
    const { port, lines } = await startStub()
    await call(port, method, path, body)
    return lines.filter(({ msg }) => msg === 'request')
  }

  test('is the one in the path', async () => {
    const [line] = await linesOf('GET', '/api/v1/relayers/r/transactions/t-7')
    expect(line).toMatchObject({ operation: 'getTransactionById', transaction: 't-7' })
  })

  test('is the one that the request created', async () => {
    const [line] = await linesOf('POST', '/api/v1/relayers/r/transactions', { value: 1 })
    expect(line).toMatchObject({ operation: 'sendTransaction', transaction: 't-1' })
  })

  test('is absent if the request created another record', async () => {
    const [line] = await linesOf('POST', '/api/v1/notifications', {
      id: 'ops',
      type: 'webhook',
      url: 'https://example.com',
    })
    expect(line).toMatchObject({ operation: 'createNotification', status: 201 })
    expect(line).not.toHaveProperty('transaction')
  })
})

test('an operation without a handler stops the start', async () => {
  const { handlers, ...options } = stubOptions()
  const { signMessage: _, ...others } = handlers
  const incomplete = createHttpServer({ ...options, handlers: others as HandlerMap })
  await expect(incomplete).rejects.toThrow('No handler for signMessage')
})

test('a body that arrives after the answer does no harm', async () => {
  const { port, lines } = await startStub()
  const socket = connect(port, '127.0.0.1')
  const received = new Promise((resolve) => socket.once('data', resolve))
  socket.write(`${WITHOUT_BODY}\r\n`)
  await received
  socket.end('{"late":1')
  expect((await call(port, 'GET', '/api/v1/relayers')).status).toBe(200)
  expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

const { port } = await startSharedStub()

const METHODS = [
  ['/api/v1/health', 'GET, HEAD, OPTIONS'],
  ['/api/v1/ready', 'GET, HEAD, OPTIONS'],
  ['/api/v1/relayers', 'GET, POST, HEAD, OPTIONS'],
  ['/api/v1/relayers/r/sign', 'POST, OPTIONS'],
  ['/api/v1/relayers/r/transactions', 'GET, POST, HEAD, OPTIONS'],
  ['/api/v1/relayers/r/transactions/t', 'GET, PUT, DELETE, HEAD, OPTIONS'],
  ['/api/v1/relayers/r/transactions/pending', 'DELETE, OPTIONS'],
  ['/api/v1/notifications', 'GET, POST, HEAD, OPTIONS'],
  ['/docs', 'GET, HEAD, OPTIONS'],
  ['/openapi.json', 'GET, HEAD, OPTIONS'],
] as const

describe('the methods of a path', () => {
  test.each(METHODS)('OPTIONS %s is 204 with Allow: %s', async (path, allow) => {
    const reply = await ask(port, { method: 'OPTIONS', path })
    expect([reply.status, reply.headers.allow, reply.text]).toEqual([204, allow, ''])
  })

  test.each(METHODS)('PATCH %s is 405 with Allow and the failure body', async (path, allow) => {
    const reply = await call(port, 'PATCH', path)
    expect([reply.status, reply.headers.allow]).toEqual([405, allow])
    expect(reply.json).toMatchObject({ success: false, data: null, code: 'method_not_allowed' })
  })

  test.each(METHODS.filter(([, allow]) => allow.includes('GET')))(
    'HEAD %s has the headers of GET and no body',
    async (path) => {
      const [head, get] = [await call(port, 'HEAD', path), await call(port, 'GET', path)]
      expect(head.status).toBe(200)
      expect(head.text).toBe('')
      expect(head.headers['content-type']).toBe(get.headers['content-type'])
      expect(head.headers['content-length']).toBe(get.headers['content-length'])
    },
  )

  test.each([
    '/api/v1/relayers/',
    '/api/v1/relayers/r/transactions/',
    '/api/v1/relayers/r/transactions/t/',
    '/api/v1/health/',
    '/docs/',
  ])('the slash at the end of %s is ignored', async (path) => {
    expect((await call(port, 'GET', path)).status).toBe(200)
  })

  test.each([
    '/api/v1',
    '/api/v1/relayer',
    '/api/v2/relayers',
    '/api/v1/relayers/r/transactions/t/u',
    '//api/v1/relayers',
    '/%2e%2e/etc',
  ])('%s is 404 with the failure body', async (path) => {
    const reply = await call(port, 'GET', path)
    expect(reply.status).toBe(404)
    expect(reply.json).toMatchObject({ success: false, data: null, message: 'Not found', code: 'not_found' })
  })

  test.each([
    ['/api/v1/relayers/%00/transactions', 'relayer_not_found'],
    ['/api/v1/relayers/%zz/transactions', 'relayer_not_found'],
    ['/api/v1/relayers/.a/transactions', 'relayer_not_found'],
    [`/api/v1/relayers/${'a'.repeat(101)}/transactions`, 'relayer_not_found'],
    ['/api/v1/relayers/r/transactions/%E2%82%AC', 'transaction_not_found'],
    ['/api/v1/relayers/r/transactions/..%2f..', 'transaction_not_found'],
  ])('%s cannot be an id: 404 %s', async (path, code) => {
    const reply = await call(port, 'GET', path)
    expect([reply.status, reply.json?.code]).toEqual([404, code])
  })
})

const peers = createPeers(createAddressList(['10.0.0.0/8', 'fd00::/8', '192.0.2.7']))

const request = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:1::6', '2001:db8:1:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['10.1.2.3', undefined],
  ['::ffff:10.1.2.3', undefined],
  ['192.0.2.7', undefined],
  ['192.0.2.8', '192.0.2.8'],
])('a connection of %s counts for %s', (address, peer) => {
  expect(peers.ofConnection(address)).toBe(peer)
})

test.each([
  ['a stranger writes the header', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['a proxy reports its caller', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['the caller wrote an entry before', '10.0.0.1', '6.6.6.6, 198.51.100.1', '198.51.100.1'],
  ['two proxies', '10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
  ['a proxy without the header', '10.0.0.1', undefined, '10.0.0.1'],
  ['a proxy reports no address', '10.0.0.1', 'unknown', '10.0.0.1'],
  ['a proxy of IPv6', 'fd00::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
])('%s', (_name, address, forwarded, peer) => {
  expect(peers.ofRequest(request(address, forwarded))).toBe(peer)
})

test.each([
  ['10.0.0.1', true],
  ['10.0.0.0/8', true],
  ['fd00::/8', true],
  ['10.0.0.0/33', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/8/8', false],
  ['example.com', false],
  ['', false],
])('%s is an address or a network: %s', (text, expected) => {
  expect(isAddressRange(text)).toBe(expected)
})
