import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { API_KEY } from '../../support/service.ts'
import { launchChromium } from '../launch.ts'
import { type ConsolePage, openConsole, sees } from './console-page.ts'
import { type ConsoleWorld, startConsoleWorld } from './console-world.ts'

let world: ConsoleWorld
let browser: Browser

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startConsoleWorld(), launchChromium()])
  await world.story.service.api('POST', '/plugins/guard/call', {})
})
afterAll(async () => {
  await browser?.close()
  await world?.stop()
})

test.each([1440, 390])('a person with a screen of %i px finds why a plugin fails', async (width) => {
  const tab: ConsolePage = await openConsole(browser, world.story.service.url, { width })
  await tab.signIn(API_KEY)
  await tab.go('plugins', 'Plugins')
  const { page } = tab
  const row = page.getByRole('region', { name: 'Plugins' }).getByRole('row').nth(1)
  await expect.poll(() => row.innerText()).toMatch(/guard[\s\S]*asked before sends[\s\S]*ready/)
  await tab.screenshot(`plugins-${width}`)
  await row.getByRole('link', { name: 'guard' }).click()
  await page.getByRole('heading', { level: 1, name: 'Plugin guard' }).waitFor()
  await sees(page, /the address book has no such person/)
  await sees(page, /If the plugin does not answer, the request is refused/)
  await sees(page, /None pending/)
  await sees(page, /payroll/)
  await sees(page, /the first line/)
  const failures = page.locator('dt', { hasText: 'Failures' }).locator('xpath=following-sibling::dd')
  const before = Number(await failures.innerText())
  await world.story.service.api('POST', '/plugins/guard/call', {})
  await page.getByRole('button', { name: 'Reload' }).click()
  await expect.poll(() => failures.innerText()).toBe(String(before + 1))
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  await tab.screenshot(`plugin-${width}`)
  await page.getByRole('link', { name: 'plugin.guard' }).click()
  await page.getByRole('heading', { level: 1, name: /guard/ }).waitFor()
  expect(tab.problems).toEqual([])
  await tab.context.close()
})

test('a key without plugins:read has no such page', async () => {
  const { body } = await world.story.service.api<{ secret: string }>('POST', '/api-keys', {
    name: 'Reader',
    scopes: ['relayers:read'],
  })
  const tab = await openConsole(browser, world.story.service.url)
  await tab.signIn(body.data.secret)
  await tab.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  expect(await tab.page.getByRole('link', { name: 'Plugins', exact: true }).count()).toBe(0)
  await tab.context.close()
})
