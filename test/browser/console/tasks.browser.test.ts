import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { API_KEY, DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { launchChromium } from '../launch.ts'
import { type ConsolePage, openConsole, sees } from './console-page.ts'
import { type ConsoleWorld, startConsoleWorld } from './console-world.ts'

let world: ConsoleWorld
let browser: Browser

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startConsoleWorld(), launchChromium()])
})
afterAll(async () => {
  await browser?.close()
  await world?.stop()
})

describe.each([1440, 390])('a person with a screen of %i px', (width) => {
  let tab: ConsolePage

  beforeAll(async () => {
    tab = await openConsole(browser, world.story.service.url, { width })
    await tab.signIn(API_KEY)
  })
  beforeEach(async () => {
    await tab.page.keyboard.press('Escape')
    await tab.page.getByRole('switch', { name: 'Allow changes' }).uncheck()
    await tab.go('', 'Overview')
  })
  afterEach(() => expect(tab.problems).toEqual([]))
  afterAll(() => tab?.context.close())

  const dialog = () => tab.page.getByRole('dialog')
  const press = (name: string | RegExp) => tab.page.getByRole('button', { name, exact: true }).click()
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
  const transactionOf = async (id: string) => (await world.story.get(id)) as { status: string; value: string }

  test('is told why a key is not accepted, and signs in with the right one', async () => {
    const other = await openConsole(browser, world.story.service.url, { width })
    await other.page.getByLabel('API key').fill('no-such-key-of-thirty-two-characters-x')
    await other.page.getByRole('button', { name: 'Sign in' }).click()
    await other.page.getByRole('alert').waitFor()
    await other.screenshot('01-sign-in')
    await other.signIn(API_KEY)
    await other.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(other.problems).toEqual([])
    await other.context.close()
  })

  test('sees which relayer needs care, and finds one by its name', async () => {
    const { page } = tab
    const rows = page.getByRole('region', { name: 'Relayers' }).getByRole('row')
    await sees(page, /paused/)
    await sees(page, /[\d…] ETH/)
    await page.getByRole('searchbox', { name: 'Filter relayers' }).fill('other')
    await expect.poll(() => rows.count()).toBe(2)
    await page.getByRole('searchbox', { name: 'Filter relayers' }).fill('')
    await press(/^Relayer/)
    expect(await page.getByRole('columnheader', { name: /^Relayer/ }).getAttribute('aria-sort')).toBe(
      'ascending',
    )
    await tab.screenshot('02-overview')
  })

  test('reads what fires, and follows it to the place', async () => {
    const { page } = tab
    // The number is that of the moment when it began.
    const sentence = page.getByText(/The deliveries of notification ops that were given up: \d/)
    await sentence.waitFor({ timeout: 50_000 })
    if (width < 1000) return
    await page.getByRole('region', { name: 'Alerts' }).getByRole('link', { name: 'ops' }).click()
    await page.getByRole('heading', { level: 1, name: /ops/ }).waitFor()
  })

  test('watches a queue grow without loading the page again', async () => {
    const { page } = tab
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
    const queue = page.getByRole('link', { name: /^Transactions of main: \d/ })
    const before = Number(await queue.innerText())
    await world.sendSlow()
    await expect.poll(async () => Number(await queue.innerText()), { timeout: 10_000 }).toBe(before + 1)
  })

  test('reads why a transaction waits', async () => {
    const id = await world.sendSlow()
    await tab.go(`transactions/main/${id}`, /^Transaction/)
    await sees(tab.page, /Next step/)
    await sees(tab.page, /#1 send: signed/)
    await sees(tab.page, /market price/)
    await tab.screenshot('04-transaction')
  })

  test('reads which function of which contract a transaction calls', async () => {
    const { story } = world
    const inputs = [
      { type: 'address', name: 'to' },
      { type: 'uint256', name: 'amount' },
    ]
    const abi = [{ type: 'function', name: 'transfer', inputs }]
    await story.service.api('PUT', `/relayers/main/abis/${RECEIVER}`, { abi, name: 'Test Dollar' })
    const call = { function: 'transfer', args: { to: DEV_ADDRESSES[1], amount: '340282366920938463463' } }
    const { id } = await story.send({ to: RECEIVER, value: 0, call, speed: 'safeLow' })
    await tab.go(`transactions/main/${id}`, /^Transaction/)
    await sees(tab.page, `transfer(to: ${DEV_ADDRESSES[1]}, value: 340282366920938463463)`)
    await sees(tab.page, 'Test Dollar')
  })

  test('sees in a list whom each transaction pays and how much, to the last digit', async () => {
    const id = await world.sendSlow({ to: `0x${`${width}beef`.padStart(40, '0')}`, value: '1' })
    await tab.go('transactions', 'Transactions')
    const row = tab.page.getByRole('row').filter({ has: tab.page.locator(`[title="${id}"]`) })
    await row.waitFor()
    await expect.poll(() => row.innerText()).toMatch(/0\.000000000000000001 ETH\s+to\s+0x000000…\d+beef/i)
  })

  test('does not count what waits for its time as a queue', async () => {
    const { story } = world
    const queue = tab.page.getByRole('link', { name: /^Transactions of main: \d/ })
    await queue.waitFor()
    const before = await queue.innerText()
    const later = new Date(Date.now() + 86_400_000).toISOString()
    const { id } = await story.send({ to: RECEIVER, value: 5, valid_from: later, speed: 'fast' })
    await sees(tab.page, /and \d+ for later/)
    expect(await queue.innerText()).toBe(before)
    await tab.go('transactions?relayer=main&status=pending', 'Transactions')
    await sees(tab.page, /waits until/)
    await story.service.api('DELETE', `/relayers/main/transactions/${id}`)
  })

  test('speeds a transaction up, after a look at the price', async () => {
    const id = await world.sendSlow()
    await tab.go(`transactions/main/${id}`, /^Transaction/)
    expect(await tab.page.getByRole('button', { name: 'Speed up' }).count()).toBe(0)
    await tab.allowChanges()
    await press('Speed up')
    await expect.poll(() => dialog().innerText()).toMatch(/gwei instead of [\d.…]+ gwei/)
    await tab.screenshot('05-speed-up')
    await confirm('Speed it up')
    await sees(tab.page, /#2 replace: signed/)
  })

  test('replaces the amount of a transaction, after a preview', async () => {
    const id = await world.sendSlow()
    await tab.go(`transactions/main/${id}`, /^Transaction/)
    await tab.allowChanges()
    await press('Replace')
    const value = dialog().getByLabel('Value, in ETH')
    expect(await value.inputValue()).toBe('0.001')
    expect(await dialog().getByLabel(/^To/).inputValue()).toBe(RECEIVER)
    await value.fill('1,5')
    await confirm('Preview')
    await expect.poll(() => dialog().innerText()).toContain('Enter a number')
    await value.fill('0.000000000000000077')
    await dialog().getByLabel('Price').selectOption('fastest')
    await confirm('Preview')
    await expect.poll(() => dialog().innerText()).toContain('would be accepted')
    expect(await dialog().innerText()).toMatch(/Moves\s+0\.000000000000000077 ETH/)
    await tab.screenshot('06-replace')
    await confirm('Replace it')
    await expect.poll(async () => (await transactionOf(id)).value).toBe('77')
  })

  test('cancels a transaction', async () => {
    const id = await world.sendSlow()
    await tab.go(`transactions/main/${id}`, /^Transaction/)
    await tab.allowChanges()
    await press('Cancel')
    await expect.poll(() => dialog().innerText()).toContain('gwei')
    await confirm('Cancel the transaction')
    await sees(tab.page, /#2 cancel/)
    await sees(tab.page, `The original request:\n\n0.001 ETH\nto \n${RECEIVER}`)
    await world.story.settle()
    await tab.page.locator('.page-head .status', { hasText: 'canceled' }).waitFor()
    await tab.screenshot('07-canceled')
  })

  test('approves what another key has sent, with a reason', async () => {
    const id = await world.sendForApproval()
    await tab.go('approvals', 'Approvals')
    await tab.allowChanges()
    const row = tab.page.getByRole('row').filter({ has: tab.page.locator(`[title="${id}"]`) })
    await expect.poll(() => row.innerText()).toContain('0.001 ETH')
    await row.getByRole('button', { name: 'Approve' }).click()
    await dialog().getByLabel('Reason').fill('The invoice is right.')
    await expect
      .poll(() => dialog().innerText())
      .toContain('If you approve it now, it is simulated again and sent.')
    const shown = await dialog().innerText()
    for (const text of ['0.001 ETH', RECEIVER, 'API key payouts', 'Maximum fee', 'Minimum balance left'])
      expect(shown).toContain(text)
    await tab.screenshot('08-approve')
    await confirm('Approve it')
    const path = `/relayers/main/transactions/${id}/approval`
    await until(
      async () =>
        (await world.story.service.api<{ state: string; decision_reason: string }>('GET', path)).body.data,
      (approval) => approval.state === 'approved' && approval.decision_reason === 'The invoice is right.',
    )
  })

  test('decides that a transaction was included which a restored database has not signed', async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString()
    const { id } = await world.story.send({ to: RECEIVER, value: 5, speed: 'fast', valid_from: later })
    await world.story.service.api('PATCH', '/relayers/main', { paused: true })
    await tab.go(`transactions/main/${id}`, 'Transaction')
    await tab.allowChanges()
    await tab.page.getByRole('button', { name: 'Decide', exact: true }).click()
    await dialog().getByLabel('Outcome on the chain').selectOption('It was included')
    const hash = `0x${'ab'.repeat(32)}`
    await dialog().getByLabel('Hash').fill(hash)
    await dialog().getByLabel('Reason').fill('In block 4711.')
    await confirm('Decide it')
    const { hash: shown } = await world.story.reach(id, 'confirmed')
    expect(shown).toBe(hash)
    await world.story.service.api('PATCH', '/relayers/main', { paused: false })
  })

  const searchFor = async (text: string) => {
    await tab.page.keyboard.press('/')
    await tab.page.keyboard.type(text)
    await tab.page.keyboard.press('Enter')
  }
  const opens = (id: string) => tab.page.waitForURL((url) => url.hash === `#/transactions/main/${id}`)

  test('finds a transaction by its id and by the hash of any attempt, from the keyboard alone', async () => {
    const id = await world.sendSlow()
    const { hash } = await world.story.get(id)
    const replaced = await world.story.replace(id, { to: RECEIVER, value: 2, speed: 'fastest' })
    const hashes = [hash, replaced.body.data.hash]
    expect(new Set(hashes).size).toBe(2)
    for (const text of [id, ...hashes]) {
      await tab.go('', 'Overview')
      await searchFor(String(text))
      await opens(id)
    }
  })

  test('goes on typing in the search while the page below arrives', async () => {
    const { page } = tab
    const id = await world.sendSlow()
    const answered = Promise.withResolvers<void>()
    const arrives = `**/relayers/main/transactions/${id}`
    await page.route(arrives, async (route) => {
      await answered.promise
      await route.continue()
    })
    await tab.go(`transactions/main/${id}`, 'Transaction')
    await page.keyboard.press('/')
    await page.keyboard.type('typed before')
    answered.resolve()
    await sees(page, /Next step/)
    await page.keyboard.type(' and after')
    const search = page.getByRole('searchbox', { name: 'Search by id, hash or address' })
    expect(await search.inputValue()).toBe('typed before and after')
    await page.unroute(arrives)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Search: typed before and after' }).waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1')
  })

  test('finds relayers by their address, and transactions by their receiver', async () => {
    const { page } = tab
    await world.sendSlow({ to: DEV_ADDRESSES[1] })
    await searchFor(DEV_ADDRESSES[1].toLowerCase())
    const paid = page.getByRole('table', { name: 'Transactions' }).locator('tbody tr')
    await paid.first().waitFor()
    await page
      .getByRole('main')
      .getByRole('listitem')
      .filter({ hasText: /^Relayer/ })
      .getByRole('link', { name: 'Other' })
      .click()
    await page.getByRole('heading', { level: 1, name: 'Other' }).waitFor()
    const receiver = `0x${String(width).padStart(40, '0')}`
    const ids = [await world.sendSlow({ to: receiver }), await world.sendSlow({ to: receiver })]
    await searchFor(receiver)
    const titles = () =>
      paid.locator('a code').evaluateAll((found) => found.map((one) => one.getAttribute('title')))
    await expect.poll(titles).toEqual(ids.reverse())
    await searchFor(`0x${'00'.repeat(32)}`)
    await sees(page, /No results that this key may see/)
  })

  test('searches the transactions of all relayers by their fields', async () => {
    const { page } = tab
    const receiver = `0x${`${width}cafe`.padStart(40, '0')}`
    const id = await world.sendSlow({ to: receiver })
    const filter = (name: string) => page.locator('.filters').getByLabel(name)
    const links = page.getByRole('table', { name: 'Transactions' }).locator(`[title="${id}"]`)
    await tab.go('transactions', 'Transactions')
    await links.waitFor()
    for (const [name, fitting, other] of [
      ['Status', 'submitted', 'expired'],
      ['Network type', 'evm', 'solana'],
      ['Relayer', 'main', 'other'],
    ] as const) {
      await filter(name).selectOption(other)
      await expect.poll(() => links.count()).toBe(0)
      await filter(name).selectOption(fitting)
      await links.waitFor()
    }
    await filter('Receiver').fill(receiver.toUpperCase().replace('0X', '0x'))
    await filter('Receiver').press('Enter')
    const rows = page.getByRole('table', { name: 'Transactions' }).locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(1)
    await links.waitFor()
    await tab.screenshot('09-transactions')
    await world.sendSlow({ to: receiver })
    await expect.poll(() => rows.count(), { timeout: 10_000 }).toBe(2)
    await filter('Receiver').fill('nobody')
    await filter('Receiver').press('Enter')
    await sees(page, /query\.to: expected an address of EVM/)
  })

  test('disables an API key, and finds that in the audit log', async () => {
    await tab.go('api-keys/payouts', 'Payouts')
    await sees(tab.page, /day/)
    await tab.allowChanges()
    await press('Disable')
    await confirm('Disable')
    await sees(tab.page, /disabled/)
    await press('Enable')
    await confirm('Enable')
    await sees(tab.page, /active/)
    await tab.go('audit', 'Audit log')
    await sees(tab.page, /Enabled\s+api key payouts/)
    await sees(tab.page, /Disabled\s+api key payouts/)
    await tab.screenshot('10-audit')
  })
})

describe('a person who looks after webhooks', () => {
  test('sends one dead letter again, and then all of them', async () => {
    const tab = await openConsole(browser, world.story.service.url)
    await tab.signIn(API_KEY)
    const { page } = tab
    await tab.go('notifications', 'Notifications')
    await page.getByRole('link', { name: '3 dead' }).click()
    await tab.allowChanges()
    await tab.screenshot('11-dead-letters')
    await page
      .getByRole('checkbox', { name: /Choose the delivery/ })
      .first()
      .check()
    await page.getByRole('button', { name: 'Redeliver 1 selected' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Redeliver 1 selected' }).click()
    const dead = page.getByRole('row').filter({ hasText: 'dead' })
    await expect.poll(() => dead.count(), { timeout: 10_000 }).toBe(2)
    await page.getByRole('button', { name: 'Redeliver all dead letters' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Redeliver all dead letters' }).click()
    await sees(page, /No deliveries/)
    expect(tab.problems).toEqual([])
    await tab.context.close()
  })
})
