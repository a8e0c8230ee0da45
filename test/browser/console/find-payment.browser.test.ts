import { readFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { dayOf } from '../../../console/src/pages/transactions/filter.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { API_KEY, DEV_ADDRESSES } from '../../support/service.ts'
import { launchChromium } from '../launch.ts'
import { type ConsolePage, openConsole, sees } from './console-page.ts'

const DAY_MS = 86_400_000
const PAYEE = `0x${'beef'.repeat(10)}`

let story: Scenario
let browser: Browser
let yesterday: string
let today: string

/** One payment to the payee yesterday and one today, among others. */
beforeAll(async () => {
  const clock = createAdjustableClock(-DAY_MS)
  ;[story, browser] = await Promise.all([startScenario({ clock }), launchChromium()])
  const pay = async (to: string, value: number, more = {}) =>
    (await story.send({ to, value, speed: 'fast', ...more })).id
  await pay(String(DEV_ADDRESSES[1]), 1)
  yesterday = await pay(PAYEE, 1_500_000_000_000, { reference: 'invoice-1017' })
  clock.advance(DAY_MS)
  today = await pay(PAYEE, 2_500_000_000_000)
  await pay(String(DEV_ADDRESSES[1]), 3)
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await story?.stop()
})

describe.each([1440, 390])('a bookkeeper with a screen of %i px', (width) => {
  let tab: ConsolePage
  beforeAll(async () => {
    tab = await openConsole(browser, story.service.url, { width })
    await tab.signIn(API_KEY)
  })
  afterEach(() => expect(tab.problems).toEqual([]))
  afterAll(() => tab?.context.close())

  const rows = () => tab.page.getByRole('region', { name: 'Transactions' }).locator('tbody tr')
  const idsShown = async () => {
    const titles = await rows()
      .locator('code[title]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('title')))
    return titles.filter((title) => title === yesterday || title === today)
  }
  const dayBefore = () => dayOf(new Date(Date.now() - DAY_MS))

  test("finds yesterday's payment to an address, from the search to the single row", async () => {
    const { page } = tab
    await page.getByRole('searchbox', { name: 'Search by id, hash or address' }).fill(PAYEE)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /^Search/ }).waitFor()
    await expect.poll(idsShown).toEqual([today, yesterday])
    await expect.poll(() => rows().first().innerText()).toMatch(/0\.0000025 ETH/)
    await page.getByRole('link', { name: `All transactions to ${PAYEE}` }).click()
    await page.getByRole('heading', { level: 1, name: 'Transactions' }).waitFor()
    await page.getByLabel('From', { exact: true }).fill(dayBefore())
    await page.getByLabel('Until', { exact: true }).fill(dayBefore())
    await expect.poll(idsShown).toEqual([yesterday])
    expect(await rows().count()).toBe(1)
    const [, , year] = new Date(Date.now() - DAY_MS).toDateString().split(' ').slice(1)
    expect(await rows().first().innerText()).toMatch(new RegExp(`${year}.*1 d ago`, 's'))
    expect(page.url()).toContain(`to=${PAYEE}&from=${dayBefore()}&until=${dayBefore()}`)
    await tab.screenshot('20-find-payment')
  })

  test('keeps a filter by a name, finds it again after a reload, and forgets it', async () => {
    const { page } = tab
    await tab.go(`transactions?to=${PAYEE}&from=${dayBefore()}&until=${dayBefore()}`, 'Transactions')
    await page.getByLabel('Save filter as').fill('Beef of yesterday')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.reload()
    await tab.signIn(API_KEY)
    await tab.go('transactions', 'Transactions')
    await page.getByRole('link', { name: 'Beef of yesterday' }).click()
    await expect.poll(idsShown).toEqual([yesterday])
    await page.getByRole('button', { name: 'Delete filter Beef of yesterday' }).click()
    await tab.go('transactions', 'Transactions')
    expect(await page.getByRole('link', { name: 'Beef of yesterday' }).count()).toBe(0)
  })

  test('narrows the list by amount in coins, by reference and by API key', async () => {
    const { page } = tab
    await tab.go(`transactions?to=${PAYEE}&type=evm`, 'Transactions')
    await page.getByText('More filters').click()
    await page.getByLabel('Asset').fill('native')
    await page.keyboard.press('Tab')
    await page.getByLabel(/^Minimum/).fill('0.000002')
    await page.keyboard.press('Tab')
    await expect.poll(idsShown).toEqual([today])
    await tab.go(`transactions?to=${PAYEE}`, 'Transactions')
    await page.getByText('More filters').click()
    await page.getByLabel('Reference').fill('invoice-1017')
    await page.keyboard.press('Tab')
    await expect.poll(idsShown).toEqual([yesterday])
    await tab.go('transactions?key=nobody', 'Transactions')
    await sees(page, 'No transactions.')
  })

  test('saves what a filter finds as a file for a spreadsheet', async () => {
    const { page } = tab
    await tab.go(`transactions?to=${PAYEE}`, 'Transactions')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^transactions-\d{4}-\d\d-\d\d\.csv$/)
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
    expect(lines.length).toBe(3)
    expect(lines[1]).toContain('1500000000000,0.0000015,')
    expect(lines[1]).toContain('invoice-1017')
    expect(lines[2]).toContain(today)
  })
})
