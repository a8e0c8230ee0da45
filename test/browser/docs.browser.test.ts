import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSharedStub } from '../http/stub-server.ts'
import { launchChromium } from './launch.ts'

const { url } = await startSharedStub()
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
async function openReference(): Promise<{ page: Page; foreign: string[]; errors: string[] }> {
  const page = await browser.newPage()
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
  await page.locator('h1', { hasText: 'Relayer' }).waitFor()
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
