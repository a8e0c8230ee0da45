import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGuardedHttpClient } from '../../src/security/guarded-http-client.ts'
import { guardedLookup } from '../../src/security/guarded-lookup.ts'

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
      guardedLookup({ allowPrivate })('localhost', { all }, (error, found) => resolve(error ?? found)),
    )
  expect(await look(true, true)).toContainEqual({ address: '127.0.0.1', family: 4 })
  expect(['127.0.0.1', '::1']).toContain(await look(false, true))
  expect(await look(true, false)).toMatchObject({ name: 'ForbiddenAddressError' })
})
