import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ask, BEARER, startSharedStub, startStub } from './stub-server.ts'

const { port } = await startSharedStub()

interface Download {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

function download(path: string, headers: Record<string, string> = {}): Promise<Download> {
  const { promise, resolve, reject } = Promise.withResolvers<Download>()
  const outgoing = request({ port, host: '127.0.0.1', path, headers, agent: false }, async (response) => {
    resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: await buffer(response) })
  })
  outgoing.on('error', reject)
  outgoing.end()
  return promise
}

test.each([
  '/',
  '/docs',
  '/docs/redoc.js',
  '/openapi.yaml',
  '/openapi.json',
  '/openapi.json?profile=codegen',
])('%s counts against the rate limit of the peer, and of the key', async (path) => {
  const { port } = await startStub({ rateLimit: { perSecond: 0.001, burst: 2 } })
  const statusOf = async (headers: Record<string, string> = {}) => (await ask(port, { path, headers })).status
  expect([await statusOf(), await statusOf()]).not.toContain(429)
  const refused = await ask(port, { path })
  expect([refused.status, refused.json?.code]).toEqual([429, 'rate_limited'])
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  // The key has a bucket of its own.
  expect(await statusOf({ authorization: BEARER })).not.toBe(429)
})

test('a page is compressed as the reader accepts it, and each form has its own ETag', async () => {
  const plain = await download('/docs/redoc.js')
  const gzip = await download('/docs/redoc.js', { 'accept-encoding': 'gzip' })
  const br = await download('/docs/redoc.js', { 'accept-encoding': 'gzip, deflate, br' })
  expect([plain, gzip, br].map(({ headers }) => headers['content-encoding'])).toEqual([
    undefined,
    'gzip',
    'br',
  ])
  expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true)
  expect(brotliDecompressSync(br.bytes).equals(plain.bytes)).toBe(true)
  expect(br.bytes.length).toBeLessThan(plain.bytes.length / 3)
  expect(new Set([plain, gzip, br].map(({ headers }) => headers.etag)).size).toBe(3)
  for (const { headers, bytes } of [plain, gzip, br]) {
    expect(headers.vary).toBe('Accept-Encoding')
    expect(headers['content-length']).toBe(String(bytes.length))
  }
})

test('a compressed page that the reader already has is not sent again', async () => {
  const accepted = { 'accept-encoding': 'br' }
  const { headers } = await download('/openapi.json', accepted)
  const again = await download('/openapi.json', { ...accepted, 'if-none-match': String(headers.etag) })
  expect([again.status, again.bytes.length]).toEqual([304, 0])
})

test('an encoding that the reader refuses is not used', async () => {
  const { headers } = await download('/docs', { 'accept-encoding': 'br;q=0, gzip;q=0' })
  expect(headers['content-encoding']).toBeUndefined()
})

test('browsers keep the program, whose address changes with its content, and ask again for the pages', async () => {
  const page = await download('/docs')
  const [, path] = /<script src="([^"]+)">/.exec(String(page.bytes)) ?? []
  const program = await download(path ?? '')
  expect(program.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(path).toContain(String(program.headers.etag).replaceAll('"', ''))
  const unversioned = await download('/docs/redoc.js')
  expect(unversioned.headers['cache-control']).toBe('public, max-age=3600')
  expect(page.headers['cache-control']).toBe('no-cache')
})
