import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { API_KEY, RECEIVER } from '../../support/service.ts'
import { launchChromium } from '../launch.ts'
import { type ConsolePage, openConsole, sees } from './console-page.ts'

let story: Scenario
let browser: Browser
let id: string

beforeAll(async () => {
  ;[story, browser] = await Promise.all([startScenario(), launchChromium()])
  id = (await story.send({ to: RECEIVER, value: 1, speed: 'fast' })).id
  await story.reach(id, 'submitted')
})
afterAll(async () => {
  await browser?.close()
  await story?.stop()
})

async function signInWith(rights: object): Promise<ConsolePage> {
  const { body } = await story.service.api<{ secret: string }>('POST', '/api-keys', {
    name: 'Narrow',
    ...rights,
  })
  const tab = await openConsole(browser, story.service.url)
  await tab.signIn(body.data.secret)
  return tab
}

const pagesOf = ({ page }: ConsolePage) =>
  page.getByRole('navigation', { name: 'Pages of the console' }).getByRole('link').allInnerTexts()

test('a key that only reads one relayer is offered nothing else, and no switch', async () => {
  const tab = await signInWith({ scopes: ['relayers:read', 'transactions:read'], relayers: ['main'] })
  await sees(tab.page, /1 relayer\b/)
  const pages = await pagesOf(tab)
  expect(pages.slice(0, 4).toSorted()).toEqual(['Approvals', 'Overview', 'Schedules', 'Transactions'])
  expect(pages).toHaveLength(5)
  expect(await tab.page.getByRole('switch').count()).toBe(0)
  await tab.go(`transactions/main/${id}`, /^Transaction/)
  await sees(tab.page, /Next step/)
  for (const name of ['Speed up', 'Replace', 'Cancel'])
    expect(await tab.page.getByRole('button', { name }).count()).toBe(0)
  await sees(tab.page, /Not live/)
  expect(tab.problems).toEqual([])
})

test('a key that reads transactions alone finds them by their id, and names the relayer of a list', async () => {
  const tab = await signInWith({ scopes: ['transactions:read'] })
  const { page } = tab
  const link = page.getByRole('table', { name: 'Transactions' }).locator(`[title="${id}"]`)
  await tab.go('transactions', 'Transactions')
  await link.waitFor()
  const name = async (relayer: string) => {
    await page.locator('.filters').getByLabel('Relayer').fill(relayer)
    await page.locator('.filters').getByLabel('Relayer').press('Enter')
  }
  await name('other')
  await sees(page, /No transactions/)
  await name('main')
  await link.waitFor()
  await tab.go(`search?q=${id}`, /^Transaction/)
  expect(tab.problems).toEqual([])
})

test('a key that may write sees its actions once changes are allowed, and not before', async () => {
  const scopes = ['relayers:read', 'transactions:read', 'transactions:write']
  const tab = await signInWith({ scopes })
  await tab.go(`transactions/main/${id}`, /^Transaction/)
  await sees(tab.page, /Next step/)
  expect(await tab.page.getByRole('button', { name: 'Speed up' }).count()).toBe(0)
  await tab.allowChanges()
  await tab.page.getByRole('button', { name: 'Speed up' }).waitFor()
  await tab.go('relayers/main', 'Main')
  await tab.page.getByRole('button', { name: 'Cancel all waiting' }).waitFor()
  expect(await tab.page.getByRole('button', { name: 'Pause' }).count()).toBe(0)
})

test('the secret is in no address and no storage, and gone with the page', async () => {
  const tab = await openConsole(browser, story.service.url)
  await tab.signIn(API_KEY)
  await tab.go(`transactions/main/${id}`, /^Transaction/)
  expect(await stored(tab)).not.toContain(API_KEY)
  await tab.page.reload()
  await tab.page.getByLabel('API key').waitFor()
  expect(tab.addresses.filter((address) => address.includes(API_KEY))).toEqual([])
})

test('the secret that is kept for the tab survives a reload, is not in the lasting storage, and goes with the sign-out', async () => {
  const tab = await openConsole(browser, story.service.url)
  await tab.signIn(API_KEY, { keep: true })
  await tab.allowChanges()
  await tab.page.reload()
  const allowed = tab.page.getByRole('switch', { name: 'Allow changes' })
  await allowed.waitFor()
  expect(await allowed.isChecked()).toBe(false)
  expect(await tab.page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(API_KEY)
  const other = await tab.context.newPage()
  await other.goto(`${story.service.url}/console`)
  await other.getByLabel('API key').waitFor()
  await tab.page.getByRole('button', { name: 'Sign out' }).click()
  await tab.page.getByLabel('API key').waitFor()
  expect(await stored(tab)).not.toContain(API_KEY)
})

function stored({ page }: ConsolePage): Promise<string> {
  return page.evaluate(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
  )
}
