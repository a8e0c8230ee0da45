import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PerformanceObserver } from 'node:perf_hooks'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  checkLiteral,
  createGuardedHttpClient,
  ForbiddenAddressError,
  guardedLookup,
} from '../../src/security/guarded-http-client.ts'
import { createNameResolver } from '../../src/security/name-resolver.ts'
import { startNameServer } from '../support/name-server.ts'

describe('the guarded HTTP client', () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(String(request.url))
    response.writeHead(307, { location: '/elsewhere', 'x-nul': 'a' }).end('a\u0000b')
  })
  let port: number

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const request = (url: string) => ({ url, headers: {}, body: '{}', timeoutMs: 2_000 })

  describe('an HTTP client that must not reach private addresses', () => {
    const httpClient = createGuardedHttpClient({ allowPrivate: false })
    afterAll(() => httpClient.close())

    test.each([
      ['an address', () => `http://127.0.0.1:${port}/`],
      ['an address in another notation', () => `http://2130706433:${port}/`],
      ['an IPv6 address', () => `http://[::1]:${port}/`],
      ['an IPv4 address as IPv6', () => `http://[::ffff:127.0.0.1]:${port}/`],
      ['a name that leads to one', () => `http://localhost:${port}/`],
    ])('%s: refused before anything is sent', async (_what, url) => {
      const before = asked.length
      await expect(httpClient.post(request(url()))).rejects.toThrow(/in a private network/)
      expect(asked).toHaveLength(before)
    })
  })

  describe('an HTTP client that may reach them', () => {
    const httpClient = createGuardedHttpClient({ allowPrivate: true })
    afterAll(() => httpClient.close())

    test('a redirect is the answer, and is not followed', async () => {
      const answer = await httpClient.post(request(`http://localhost:${port}/hook`))
      expect(answer).toMatchObject({ status: 307, headers: { location: '/elsewhere' }, body: 'a\ufffdb' })
      expect(asked.at(-1)).toBe('/hook')
    })

    test.each(['http://169.254.169.254/latest/meta-data', 'https://[fe80::1]/', 'http://0.0.0.0/'])(
      '%s: still refused',
      async (url) => {
        await expect(httpClient.post(request(url))).rejects.toThrow(/never allowed/)
      },
    )
  })

  test('a lookup gives only allowed addresses, one or all', async () => {
    const look = (all: boolean, allowPrivate: boolean) =>
      new Promise<unknown>((resolve) =>
        guardedLookup({ allowPrivate }, createNameResolver())('localhost', { all }, (error, found) =>
          resolve(error ?? found),
        ),
      )
    expect(await look(true, true)).toContainEqual({ address: '127.0.0.1', family: 4 })
    expect(['127.0.0.1', '::1']).toContain(await look(false, true))
    expect(await look(true, false)).toMatchObject({ name: 'ForbiddenAddressError' })
  })

  test('names take no thread of the process: a silent name delays no other, and getaddrinfo is not called', async () => {
    const silent = (name: string) => name.endsWith('.silent.example')
    const names = await startNameServer(({ name }) => (silent(name) ? 'silent' : ['127.0.0.1']))
    const calls: string[] = []
    const observer = new PerformanceObserver((list) => {
      calls.push(...list.getEntriesByName('lookup').map(({ name }) => name))
    })
    observer.observe({ entryTypes: ['dns'] })
    const client = createGuardedHttpClient({ allowPrivate: true }, { names: { servers: [names.address] } })
    onTestFinished(async () => {
      observer.disconnect()
      client.close()
      await names.stop()
    })
    const ask = (host: string) => client.post(request(`http://${host}:${port}/`))
    const silence = Array.from({ length: 40 }, (_, index) => ask(`a${index}.silent.example`))
    const failed = Promise.allSettled(silence)
    const started = performance.now()
    await Promise.all(['well.example', 'localhost', 'other.example'].map(ask))
    expect(performance.now() - started).toBeLessThan(1_000)
    const outcomes = await failed
    expect(outcomes.map((one) => one.status === 'rejected' && one.reason.name)).toEqual(
      silence.map(() => 'TimeoutError'),
    )
    expect(calls).toEqual([])
  })
})

const PUBLIC_ONLY = { allowPrivate: false }

test('a name that does not resolve gives the error of the resolver', async () => {
  const server = await startNameServer(() => 'none')
  onTestFinished(server.stop)
  const resolver = createNameResolver({ servers: [server.address] })
  const error = await new Promise((resolve) => {
    guardedLookup(PUBLIC_ONLY, resolver)('name.invalid', {}, (failure) => resolve(failure))
  })
  expect(error).toMatchObject({ name: 'NameError', code: 'ENOTFOUND', hostname: 'name.invalid' })
})

test('a name with several addresses gets only the allowed ones, and the next answer is checked as well', async () => {
  const server = await startNameServer(() => ['10.0.0.1', '8.8.8.8', 'fd00::1', '2001:4860:4860::8888'])
  onTestFinished(server.stop)
  const lookUp = guardedLookup(PUBLIC_ONLY, createNameResolver({ servers: [server.address] }))
  for (let turn = 0; turn < 2; turn += 1) {
    const found = await new Promise((resolve) => {
      lookUp('mixed.example', { all: true }, (_error, addresses) => resolve(addresses))
    })
    expect(found).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2001:4860:4860::8888', family: 6 },
    ])
  }
})

test('a name of this machine is refused with its reach, and no address is given', async () => {
  const [error, address] = await new Promise<[unknown, unknown]>((resolve) => {
    guardedLookup(PUBLIC_ONLY, createNameResolver())('localhost', {}, (failure, found) =>
      resolve([failure, found]),
    )
  })
  expect(error).toBeInstanceOf(ForbiddenAddressError)
  expect(error).toMatchObject({
    name: 'ForbiddenAddressError',
    message: 'localhost is in a private network',
    reach: 'private',
  })
  expect(address).toBe('')
})

test.each([
  ['http://name.example/', true],
  ['http://[2001:4860:4860::8888]/', true],
  ['http://[::1]/', false],
  ['http://10.0.0.1/', false],
])('%s: allowed %s', (text, allowed) => {
  const check = () => checkLiteral(new URL(text), PUBLIC_ONLY)
  if (allowed) expect(check).not.toThrow()
  else expect(check).toThrow(ForbiddenAddressError)
})
