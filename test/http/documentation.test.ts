import { readdir, readFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/contract/exact-integers.ts'
import { readConsoleFiles } from '../../src/http/pages/console.ts'
import { builtFile } from '../../src/lib/package-files.ts'
import { ask, BEARER, startSharedStub, startStub } from './stub-server.ts'

const { port } = await startSharedStub()

test('/openapi.yaml is the unchanged file', async () => {
  const reply = await ask(port, { path: '/openapi.yaml' })
  expect(reply.headers['content-type']).toContain('yaml')
  expect(reply.text).toBe(await readFile(new URL('../../openapi.yaml', import.meta.url), 'utf8'))
})

test('/openapi.json has exact integers', async () => {
  const reply = await ask(port, { path: '/openapi.json' })
  const document = parseJson(reply.text) as { components: { schemas: Record<string, { maximum: unknown }> } }
  expect(document.components.schemas.U128?.maximum).toBe(2n ** 128n - 1n)
  expect(document.components.schemas.Int64?.maximum).toBe(2n ** 63n - 1n)
})

test('/openapi.json?profile=codegen is OpenAPI 3.0.3 for code generators, each time the same', async () => {
  const [first, second] = [
    await ask(port, { path: '/openapi.json?profile=codegen' }),
    await ask(port, { path: '/openapi.json?profile=codegen' }),
  ]
  expect(first.json?.openapi).toBe('3.0.3')
  expect(second.headers.etag).toBe(first.headers.etag)
  const whole = await ask(port, { path: '/openapi.json' })
  expect(whole.json?.openapi).toBe('3.1.0')
  expect(whole.headers.etag).not.toBe(first.headers.etag)
})

test('the reference page loads a document with the same operations', async () => {
  const { text } = await ask(port, { path: '/docs/start.js' })
  const [, path = ''] = /'(\/openapi\.json[^']*)'/.exec(text) ?? []
  const [shown, whole] = [await ask(port, { path }), await ask(port, { path: '/openapi.json' })]
  expect(shown.json?.paths).toEqual(whole.json?.paths)
})

test.each([
  ['/openapi.json?profile=java', 'query.profile: expected codegen or reference.'],
  ['/openapi.json?profile=codegen&profile=codegen', 'query.profile: expected codegen or reference.'],
  ['/openapi.yaml?profile=codegen', 'query.profile: expected it to be absent.'],
])('%s is 400', async (path, error) => {
  const reply = await ask(port, { path })
  expect([reply.status, reply.json?.code, reply.json?.error]).toEqual([400, 'invalid_request', error])
})

test('/docs refers to no other host', async () => {
  const { text, headers } = await ask(port, { path: '/docs' })
  expect(text).not.toMatch(/https?:\/\//)
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  const bundle = await ask(port, { path: '/docs/redoc.js' })
  expect(bundle.headers['content-type']).toContain('javascript')
  expect(bundle.text.length).toBeGreaterThan(500_000)
})

test('/docs begins with the title and the first paragraph of the contract, before any program runs', async () => {
  const { text } = await ask(port, { path: '/docs' })
  expect(text).toMatch(/<h1>Relayer \([\d.]+\)<\/h1><p>A relayer holds the key of a blockchain account\./)
})

test.each([true, false])(
  '/docs links to the contract, and to the console if that is %s',
  async (serveConsole) => {
    const { port } = await startStub({ serveConsole })
    const { text } = await ask(port, { path: '/docs' })
    const links = [...text.matchAll(/<a href="([^"]+)">/g)].map(([, target]) => target)
    expect(links.filter((target) => target !== '/docs/guides').slice(0, 2)).toEqual([
      '/openapi.yaml',
      '/openapi.json',
    ])
    expect(links.includes('/console')).toBe(serveConsole)
  },
)

test('a page that the reader already has is not sent again', async () => {
  const first = await ask(port, { path: '/openapi.json' })
  const again = await ask(port, {
    path: '/openapi.json',
    headers: { 'if-none-match': String(first.headers.etag) },
  })
  expect([again.status, again.text]).toEqual([304, ''])
})

test('/ redirects to the reference', async () => {
  const reply = await ask(port, { path: '/' })
  expect([reply.status, reply.headers.location]).toEqual([302, '/docs'])
})

describe('the load of the documentation', async () => {
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
    '/docs/start.js',
    '/openapi.yaml',
    '/openapi.json',
    '/openapi.json?profile=codegen',
  ])('%s counts against the rate limit of the peer, and of the key', async (path) => {
    const { port } = await startStub({ rateLimit: { perSecond: 0.001, burst: 2 } })
    const statusOf = async (headers: Record<string, string> = {}) =>
      (await ask(port, { path, headers })).status
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
    const [, path] = /<script defer src="([^"]+)">/.exec(String(page.bytes)) ?? []
    const program = await download(path ?? '')
    expect(program.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(path).toContain(String(program.headers.etag).replaceAll('"', ''))
    const unversioned = await download('/docs/redoc.js')
    expect(unversioned.headers['cache-control']).toBe('public, max-age=3600')
    expect(page.headers['cache-control']).toBe('no-cache')
  })
})

describe('the console', async () => {
  const { port } = await startSharedStub({ serveConsole: true })
  const { index, assets } = await readConsoleFiles()

  /** The most bytes of all files together, compressed: what a slow line loads in a second or two. */
  const MOST_BYTES = 150 * 1024

  describe('the console', () => {
    test('is served to everyone, and nothing of it comes from elsewhere or stands in the page itself', async () => {
      const { status, headers, text } = await ask(port, { path: '/console' })
      expect(status).toBe(200)
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      )
      expect(headers).toMatchObject({
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      expect(text).not.toMatch(/<style|<script[^>]*>[^<]|\sstyle=|\son\w+=/)
      for (const [, target = ''] of text.matchAll(/(?:src|href)="([^"]+)"/g))
        expect(target).toMatch(/^(\/|data:)/)
    })

    test('has files that a browser may keep for ever, because their names change with their content', async () => {
      expect(assets.map(({ path }) => path.split('.').at(-1)).sort()).toEqual(['css', 'js', 'txt'])
      for (const { path, mediaType } of assets) {
        expect(path).toMatch(/^\/console\/assets\/\w+-[\w-]{10}\.\w+$/)
        const { status, headers } = await ask(port, { path })
        expect([status, headers['content-type']]).toEqual([200, mediaType])
        expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      }
    })

    test('answers every other path below it with the page, except for files of another release', async () => {
      const { text } = await ask(port, { path: '/console/relayers/main' })
      expect(text).toBe(index.body)
      const gone = await ask(port, { path: '/console/assets/console-0123456789.js' })
      expect([gone.status, gone.json?.code]).toEqual([404, 'not_found'])
    })

    test('has no other methods', async () => {
      const { status, headers } = await ask(port, { method: 'POST', path: '/console' })
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS'])
    })

    test('is small', async () => {
      const folder = builtFile('console/assets')
      const files = await Promise.all((await readdir(folder)).map((name) => readFile(`${folder}/${name}`)))
      const bytes = files.reduce((sum, content) => sum + gzipSync(content).length, 0)
      expect(bytes).toBeGreaterThan(10_000)
      expect(bytes).toBeLessThan(MOST_BYTES)
    })

    test('can be switched off', async () => {
      const off = await startStub({ serveConsole: false })
      expect((await ask(off.port, { path: '/console' })).status).toBe(401)
    })

    test('says how to make it where it was not built', async () => {
      const { index, assets } = await readConsoleFiles('/nowhere')
      expect([index.body, assets]).toEqual([expect.stringContaining('npm run build'), []])
    })
  })
})
