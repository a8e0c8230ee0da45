import { readdir, readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { readConsoleFiles } from '../../src/http/pages/console.ts'
import { builtFile } from '../../src/lib/package-files.ts'
import { ask, startSharedStub, startStub } from './stub-server.ts'

const { port } = await startSharedStub({ serveConsole: true })
const { index, assets } = await readConsoleFiles()

/** The most bytes of all files together, compressed: what a slow line loads in a second or two. */
const MOST_BYTES = 150 * 1024

describe('the console', () => {
  test('is served to everybody, and nothing of it comes from elsewhere or stands in the page itself', async () => {
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
