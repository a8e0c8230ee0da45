import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { parseJson } from '../../src/contract/exact-integers.ts'
import { ask, startSharedStub } from './stub-server.ts'

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
  const { text } = await ask(port, { path: '/docs' })
  const [, path = ''] = /spec-url="([^"]+)"/.exec(text) ?? []
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
