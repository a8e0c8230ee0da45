import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { listGuideFiles } from '../../src/http/pages/guides.ts'
import { startSharedStub } from './stub-server.ts'

const { url } = await startSharedStub()
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { headers, redirect: 'manual' })

test('a page, a picture and an asset are served without a key, under a policy that allows only this host', async () => {
  for (const [path, type] of [
    ['/docs/guides', 'text/html; charset=utf-8'],
    ['/docs/guides/alerts', 'text/html; charset=utf-8'],
    ['/docs/guides/signers/pkcs11', 'text/html; charset=utf-8'],
    ['/docs/guides/console-overview.png', 'image/png'],
  ] as const) {
    const { status, headers } = await get(path)
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, type])
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
    expect(policy).not.toContain('unsafe')
  }
  const html = await (await get('/docs/guides')).text()
  const [, style = ''] = /href="(\/docs\/guides\/assets\/[^"]+\.css)"/.exec(html) ?? []
  expect((await get(style)).headers.get('cache-control')).toContain('immutable')
})

test('a picture arrives unchanged, compressed or not', async () => {
  const plain = Buffer.from(
    await (await get('/docs/guides/console-overview.png', { 'accept-encoding': 'identity' })).arrayBuffer(),
  )
  const small = Buffer.from(
    await (await get('/docs/guides/console-overview.png', { 'accept-encoding': 'br' })).arrayBuffer(),
  )
  expect(plain.subarray(1, 4).toString()).toBe('PNG')
  expect(small.equals(plain)).toBe(true)
})

test('the reference and its programs stay where they were, and it leads to the guides', async () => {
  const html = await (await get('/docs')).text()
  expect(html).toContain('href="/docs/guides"')
  for (const path of ['/docs/redoc.js', '/docs/start.js', '/openapi.yaml', '/openapi.json'])
    expect([path, (await get(path)).status]).toEqual([path, 200])
})

test.each([
  '/docs/guides/nothing',
  '/docs/guides/..%2f..%2fpackage.json',
  '/docs/guides/assets',
  '/docs/guides/constructor',
])('%s is no page', async (path) => {
  expect((await get(path)).status).toBe(404)
})

const folder = mkdtempSync(join(tmpdir(), 'guides-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('only files of known types are served, and none without a build', async () => {
  mkdirSync(join(folder, 'assets'))
  for (const name of ['index.html', 'assets/a.js', '.env', 'secret.pem'])
    writeFileSync(join(folder, name), '')
  expect([...(await listGuideFiles(folder))].sort()).toEqual(['assets/a.js', 'index.html'])
  expect(await listGuideFiles(join(folder, 'absent'))).toEqual([])
})
