import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSharedStub } from '../http/stub-server.ts'
import { launchChromium } from './launch.ts'

const { url } = await startSharedStub({ serveConsole: true })
let browser: Browser
let reference: Awaited<ReturnType<typeof openReference>>

beforeAll(async () => {
  // No name but this machine's resolves: what the page does not get from us it does not get.
  browser = await launchChromium(['--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'])
  // Once for all tests, because drawing the whole contract takes most of their time.
  reference = await openReference()
})

afterAll(() => browser?.close())

/** Opens the reference and collects everything that went wrong or wanted to leave this host. */
async function openReference(
  options: BrowserContextOptions = {},
): Promise<{ page: Page; foreign: string[]; errors: string[] }> {
  const page = await browser.newPage(options)
  const foreign: string[] = []
  const errors: string[] = []
  page.on('request', (request) => {
    const target = request.url()
    if (!target.startsWith(url) && !/^(data|blob):/.test(target)) foreign.push(target)
  })
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.goto(`${url}/docs`)
  await page.locator('#introduction').waitFor({ state: 'detached' })
  return { page, foreign, errors }
}

test('the reference is complete without the internet: the four operations of the interface are shown', async () => {
  const { page, foreign, errors } = reference
  const operations = [
    [
      'Replace a transaction with a new one',
      'put',
      '/api/v1/relayers/{relayer_id}/transactions/{transaction_id}',
    ],
    ['Sign a message with a relayer', 'post', '/api/v1/relayers/{relayer_id}/sign'],
    ['List notifications', 'get', '/api/v1/notifications'],
    ['List relayers', 'get', '/api/v1/relayers'],
  ] as const
  for (const [summary, method, path] of operations) {
    const section = page
      .locator('[data-section-id^="tag/"]', { has: page.locator('h2', { hasText: summary }) })
      .last()
    await expect.poll(() => section.innerText()).toContain(path)
    expect((await section.innerText()).toLowerCase()).toContain(method)
  }
  expect(foreign).toEqual([])
  expect(errors).toEqual([])
})

test('no bound is shown rounded, and the kinds of a body can be chosen', async () => {
  const { page } = reference
  const text = await page.locator('body').innerText()
  for (const title of ['EVM', 'Solana, serialized transaction', 'Stellar']) expect(text).toContain(title)
  expect(text).not.toContain('e+38')
  expect(text).not.toContain('9223372036854776000')
})

test('no sample is cut where a window is narrow', async () => {
  const { page } = reference
  const sample = page.locator('[data-section-id$="/operation/sendTransaction"] .redoc-json').first()
  await sample.waitFor()
  expect(await sample.innerText()).toMatch(/0x[0-9a-fA-F]{40}/)
  expect(await sample.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0)
})

test('a webhook asks for no credential, because the service sends it', async () => {
  const { page } = reference
  const section = page
    .locator('[data-section-id^="tag/"]', {
      has: page.locator('h2', { hasText: 'The service disabled or enabled a relayer' }),
    })
    .last()
  await expect.poll(() => section.innerText()).toContain('webhook-id')
  expect(await section.innerText()).not.toMatch(/authorizations/i)
})

test('the search finds operations, in a worker that may not leave this host', async () => {
  const { page, foreign, errors } = reference
  await page.getByPlaceholder('Search').fill('why a transaction')
  const found = page.locator('[data-role="search:results"]')
  await expect.poll(() => found.innerText()).toContain('Explain why a transaction waits')
  await page.getByPlaceholder('Search').fill('')
  expect([foreign, errors]).toEqual([[], []])
})

test('the title stands there before the program of the page is loaded, and only once after it', async () => {
  const page = await browser.newPage()
  const loading = Promise.withResolvers<void>()
  await page.route('**/docs/redoc.js*', async (route) => {
    await loading.promise
    await route.continue()
  })
  await page.goto(`${url}/docs`, { waitUntil: 'commit' })
  await page.getByRole('heading', { level: 1, name: 'Relayer' }).waitFor()
  expect(await page.getByRole('link', { name: 'Console' }).getAttribute('href')).toBe('/console')
  loading.resolve()
  await page.locator('#introduction').waitFor({ state: 'detached' })
  expect(await page.locator('h1', { hasText: 'Relayer (' }).count()).toBe(1)
  await page.close()
})

test('a reader who prefers dark pages gets one, whose texts can be read', async () => {
  const { page } = await openReference({ colorScheme: 'dark', bypassCSP: true })
  await page.addScriptTag({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') })
  const shown = ['nav', '.menu-content', '[data-section-id$="/operation/sendTransaction"]'].map((part) => [
    part,
  ])
  const contrasts = await page.evaluate(async (shown) => {
    const { axe } = globalThis as unknown as { axe: Axe }
    const { violations } = await axe.run({ include: shown }, { runOnly: ['color-contrast'] })
    return violations.flatMap(({ nodes }) =>
      nodes.flatMap(({ any }) => any.map(({ data }) => data.contrastRatio)),
    )
  }, shown)
  // The patterns of texts, whose colour Redoc does not let be chosen, have 3.56.
  expect(contrasts.filter((ratio) => ratio < 3.5)).toEqual([])
  const background = await page.evaluate('getComputedStyle(document.body).backgroundColor')
  expect(background).toBe('rgb(22, 25, 29)')
  await page.close()
})

interface Axe {
  run(
    target: { readonly include: readonly (readonly string[])[] },
    options: { readonly runOnly: readonly string[] },
  ): Promise<{ violations: { nodes: { any: { data: { contrastRatio: number } }[] }[] }[] }>
}
