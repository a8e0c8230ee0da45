import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSharedStub } from '../http/stub-server.ts'
import { launchChromium } from './launch.ts'
import { violationsOf } from './violations.ts'

const { url } = await startSharedStub({ serveConsole: true })
let browser: Browser

beforeAll(async () => {
  browser = await launchChromium(['--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'])
})
afterAll(() => browser?.close())

/** Opens a page, and collects what went wrong: also what its policy forbids. */
async function open(path: string, options: { width: number; colorScheme: 'light' | 'dark' }) {
  const { width, colorScheme } = options
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  await page.goto(`${url}${path}`)
  return { page, problems }
}

const PAGES = [
  '',
  '/alerts',
  '/configuration',
  '/console',
  '/how-it-works',
  '/operations',
  '/client-methods',
  '/signers/pkcs11',
  '/readme',
]

test.each([
  ['light', 1440],
  ['dark', 390],
] as const)('the guides can be read by everyone, in the %s theme at %i px', async (colorScheme, width) => {
  for (const path of PAGES) {
    const { page, problems } = await open(`/docs/guides${path}`, { width, colorScheme })
    expect([path, await violationsOf(page)]).toEqual([path, []])
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    expect([path, overflow <= 0, problems]).toEqual([path, true, []])
    await page.close()
  }
})

test('the search finds a heading, a word of a text and a mistyped one, and leads there', async () => {
  const { page, problems } = await open('/docs/guides', { width: 1280, colorScheme: 'light' })
  const results = page.getByRole('region', { name: 'Search results' })
  await page.keyboard.press('/')
  for (const [words, found] of [
    ['pagerduty', 'Slack, PagerDuty, Opsgenie and e-mail'],
    ['RELAYER_SMTP_URL', 'Mail'],
    ['replacng', 'Replacing'],
    ['createNotification', 'Create a notification'],
  ] as const) {
    await page.getByRole('searchbox').fill(words)
    await expect.poll(() => results.innerText()).toContain(found)
  }
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('searchbox').fill('zzzzqqqq')
  await expect.poll(() => results.innerText()).toContain('Nothing about')
  await page.getByRole('searchbox').fill('pagerduty')
  await results
    .getByRole('link', { name: /Slack, PagerDuty/ })
    .first()
    .click()
  await page.waitForURL(/\/docs\/guides\/alerts#slack-pagerduty/)
  expect(problems).toEqual([])
})

test('a link to an operation opens its place in the reference', async () => {
  const { page } = await open('/docs/guides/operations', { width: 1440, colorScheme: 'light' })
  await page.getByRole('link', { name: 'createNotification' }).click()
  const operation = page.locator('[data-section-id="tag/Notifications/operation/createNotification"]')
  await operation.waitFor()
  await expect.poll(async () => Math.abs((await operation.boundingBox())?.y ?? 10_000)).toBeLessThan(900)
})

test('a diagram is drawn, in colours that the theme decides', async () => {
  const inks = new Set<string>()
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, problems } = await open('/docs/guides/security-model', { width: 1280, colorScheme })
    const label = page.getByRole('group', { name: 'Diagram' }).getByText('signed bytes, queries')
    await label.waitFor()
    inks.add(await page.evaluate<string>("getComputedStyle(document.querySelector('.diagram text')).fill"))
    expect(problems).toEqual([])
    await page.close()
  }
  expect(inks.size).toBe(2)
})
