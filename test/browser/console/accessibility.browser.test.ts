import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { API_KEY } from '../../support/service.ts'
import { launchChromium } from '../launch.ts'
import { violationsOf } from '../violations.ts'
import { openConsole, sees } from './console-page.ts'
import { type ConsoleWorld, startConsoleWorld } from './console-world.ts'

let world: ConsoleWorld
let browser: Browser
let id: string
let waiting: string

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startConsoleWorld(), launchChromium()])
  id = await world.sendSlow()
  waiting = await world.sendForApproval()
})
afterAll(async () => {
  await browser?.close()
  await world?.stop()
})

/** Pages with their titles, and a text that is there when everything is. */
const PAGES = [
  ['', 'Overview', /paused/],
  ['transactions', 'Transactions', /submitted/],
  ['transactions/main/{id}', /^Transaction/, /market price/],
  ['transactions/main/{waiting}', /^Transaction/, /Next step/],
  ['relayers/main', 'Main', /ETH/],
  ['approvals', 'Approvals', /payouts|waiting/],
  ['schedules', 'Schedules', /schedule/i],
  ['networks', 'Networks', /anvil/],
  ['signers', 'Signers', /dev-0/],
  ['notifications', 'Notifications', /3 dead/],
  ['notifications/ops?status=dead', /ops/, /dead/],
  ['plugins', 'Plugins', /asked before sends/],
  ['plugins/guard', 'Plugin guard', /the first line/],
  ['api-keys', 'API keys', /Payouts/],
  ['api-keys/payouts', 'Payouts', /day/],
  ['audit', 'Audit log', /Created/],
  ['key', 'API key root', /relayers:read/],
  ['search?q=nothing', /^Search/, /No results that this key may see/],
  ['no-such-page', 'Nothing here', /overview/],
  ['relayers/nobody', /nobody/, /no relayer/i],
] as const

// The theme decides about contrast and the width about the layout, so each value of both is there once.
test.each([
  ['light', 1440],
  ['dark', 390],
] as const)(
  'no page breaks a rule of accessibility in the %s theme, or is wider than its %i px',
  async (colorScheme, width) => {
    const tab = await openConsole(browser, world.story.service.url, { width, colorScheme })
    expect(await violationsOf(tab.page)).toEqual([])
    await tab.signIn(API_KEY)
    await tab.allowChanges()
    for (const [path, title, text] of PAGES) {
      await tab.go(path.replace('{id}', id).replace('{waiting}', waiting), title)
      await sees(tab.page, text)
      // A panel that still loads says so in a text that fades in.
      await expect.poll(() => tab.page.locator('.loading').count(), { message: path }).toBe(0)
      expect([path, await violationsOf(tab.page)]).toEqual([path, []])
      expect([path, await tab.page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, width])
      await tab.screenshot(`page-${path.replaceAll(/[^a-z-]+/g, '-')}-${colorScheme}`)
    }
    expect(tab.problems).toEqual([])
    await tab.context.close()
  },
)

/** Pages with the buttons that open a form there, and a text of it. */
const FORMS = [
  ['', 'Overview', 'New relayer', /Minimum balance, in ETH/],
  ['relayers/main', 'Main', 'Register an ABI', /Contract address/],
  ['relayers/main', 'Main', 'Edit', /Topped up by relayer/],
  ['relayers/main', 'Main', 'Delete', /operate its account/],
  ['signers', 'Signers', 'New signer', /AWS KMS/],
  ['signers', 'Signers', 'Delete', /without another copy/i],
  ['notifications', 'Notifications', 'New notification', /Signing key/],
  ['notifications/ops', /ops/, 'Edit', /Now on/],
  ['notifications/ops', /ops/, 'Rotate the signing key', /Keep signing/],
  ['api-keys', 'API keys', 'New API key', /Application: sends and follows/],
  ['api-keys/payouts', 'Payouts', 'Edit', /as it is now/],
  ['api-keys/payouts', 'Payouts', 'Rotate the secret', /Keep accepting/],
  ['approvals', 'Approvals', 'Approve', /Minimum balance left/],
  ['transactions/main/{id}', /^Transaction/, 'Replace', /Value, in ETH/],
] as const

test.each([
  ['light', 390],
  ['dark', 1440],
] as const)(
  'no form breaks a rule of accessibility in the %s theme, or is wider than a screen of %i px',
  async (colorScheme, width) => {
    const tab = await openConsole(browser, world.story.service.url, { width, colorScheme })
    await tab.signIn(API_KEY)
    await tab.allowChanges()
    for (const [path, title, button, text] of FORMS) {
      await tab.go(path.replace('{id}', id), title)
      await tab.page.getByRole('button', { name: button, exact: true }).first().click()
      const dialog = tab.page.getByRole('dialog')
      await expect.poll(() => dialog.innerText(), { timeout: 20_000 }).toMatch(text)
      expect([button, await violationsOf(tab.page)]).toEqual([button, []])
      expect([button, await dialog.evaluate((node) => node.scrollWidth - node.clientWidth)]).toEqual([
        button,
        0,
      ])
      await tab.screenshot(`form-${button.replaceAll(' ', '-')}-${colorScheme}`)
      await tab.page.keyboard.press('Escape')
      await expect.poll(() => dialog.count()).toBe(0)
    }
    expect(tab.problems).toEqual([])
    await tab.context.close()
  },
)

test('the rules see a fault when there is one, in the theme that the person chose', async () => {
  const tab = await openConsole(browser, world.story.service.url)
  await tab.page.getByRole('button', { name: 'Theme: system' }).click()
  await tab.page.getByRole('button', { name: 'Theme: light' }).click()
  await tab.page.getByRole('button', { name: 'Theme: dark' }).waitFor()
  expect(await tab.page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
  expect(await violationsOf(tab.page)).toEqual([])
  await tab.page.evaluate("document.querySelector('main').append(document.createElement('button'))")
  expect(await violationsOf(tab.page)).toEqual(['button-name: <button></button>'])
})

test('a question can be answered by the keyboard alone, and gives the focus back', async () => {
  const tab = await openConsole(browser, world.story.service.url)
  await tab.signIn(API_KEY)
  await tab.allowChanges()
  await tab.go(`transactions/main/${id}`, /^Transaction/)
  await tab.page.getByRole('button', { name: 'Cancel', exact: true }).focus()
  await tab.page.keyboard.press('Enter')
  await tab.page.getByRole('dialog').waitFor()
  await expect.poll(() => tab.page.getByRole('dialog').innerText()).toContain('gwei')
  expect(await violationsOf(tab.page)).toEqual([])
  await tab.page.keyboard.press('Escape')
  await expect.poll(() => tab.page.getByRole('dialog').count()).toBe(0)
  expect(await tab.page.evaluate('document.activeElement.textContent')).toBe('Cancel')
})
