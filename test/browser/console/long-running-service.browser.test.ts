import { sql } from 'kysely'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../../src/database/database.ts'
import { createLogger } from '../../../src/log.ts'
import { encodeRequest } from '../../../src/transactions/store/codec.ts'
import { createDataDir } from '../../support/data-dir.ts'
import { API_KEY, RECEIVER, type Service, startService } from '../../support/service.ts'
import { launchChromium } from '../launch.ts'
import { openConsole, sees } from './console-page.ts'

const ROWS = 100_000

/** A port where no one listens: the console has to live with that, too. */
const NOBODY = ['http://127.0.0.1:9']

/** A page of 25 takes a second or two where other programs run; one that reads the whole list takes minutes. In ms. */
const FLUID_MS = 10_000

/** More than a page of the console has, and far less than the list. */
const MOST_ELEMENTS = 1_000

let dataDir: string
let service: Service
let browser: Browser

beforeAll(async () => {
  dataDir = await createDataDir()
  // The first start stores the relayers of the configuration.
  await (await startService({ dataDir, rpcUrls: NOBODY })).stop()
  await fill(dataDir)
  ;[service, browser] = await Promise.all([startService({ dataDir, rpcUrls: NOBODY }), launchChromium()])
})
afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

/** Stores transactions that were canceled before anything was signed. */
async function fill(dataDir: string): Promise<void> {
  const database = await openDatabase({ dataDir }, createLogger({ level: 'silent' }))
  const request = JSON.stringify(encodeRequest({ type: 'evm', to: RECEIVER, value: 1n, gasLimit: 21_000n }))
  await sql`
    insert into transactions (id, relayer_id, network, from_address, status, purpose, request, cost)
    select md5(n::text)::uuid::text, 'main', 'anvil', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', 'canceled', 'request',
      ${request}::jsonb, 0
    from generate_series(1, ${ROWS}::bigint) as n`.execute(database.db)
  await sql`insert into finished_counts (relayer_id, status, count) values ('main', 'canceled', ${ROWS}::bigint)`.execute(
    database.db,
  )
  await database.close()
}

test('a relayer with 100,000 transactions is read page by page, without a wait and without a long document', async () => {
  const tab = await openConsole(browser, service.url)
  await tab.signIn(API_KEY)
  await tab.go('transactions?relayer=main&status=canceled', 'Transactions')
  await sees(tab.page, /1–25 of 100,000/)
  for (const [link, text] of [
    ['Last', /99,976–100,000 of 100,000/],
    ['Previous', /99,951–99,975 of 100,000/],
    ['First', /1–25 of 100,000/],
  ] as const) {
    const startedAt = performance.now()
    await tab.page.getByRole('link', { name: link, exact: true }).click()
    await sees(tab.page, text)
    expect(performance.now() - startedAt).toBeLessThan(FLUID_MS)
    expect(await tab.page.locator('tbody tr').count()).toBe(25)
    expect(await tab.page.locator('*').count()).toBeLessThan(MOST_ELEMENTS)
  }
  expect(tab.problems).toEqual([])
})

test('100,000 transactions of all relayers are read with a cursor, on and back, also after a look at one of them', async () => {
  const tab = await openConsole(browser, service.url)
  await tab.signIn(API_KEY)
  const links = tab.page.getByRole('table', { name: 'Transactions' }).locator('a code[title]')
  const shown = () => links.evaluateAll((codes) => codes.map((code) => code.getAttribute('title')))
  const follow = async (name: string, wanted?: readonly unknown[]) => {
    const before = await shown()
    const startedAt = performance.now()
    await tab.page.getByRole('link', { name, exact: true }).click()
    let after: readonly unknown[] = []
    // The list is empty while its next page loads, so both facts have to come from one look at it.
    await expect
      .poll(
        async () => {
          after = await shown()
          return { rows: after.length, isNext: after[0] !== before[0] }
        },
        { timeout: FLUID_MS },
      )
      .toEqual({ rows: 25, isNext: true })
    expect(performance.now() - startedAt).toBeLessThan(FLUID_MS)
    expect(await tab.page.locator('*').count()).toBeLessThan(MOST_ELEMENTS)
    if (wanted !== undefined) expect(after).toEqual(wanted)
    return after
  }
  await tab.go('transactions?status=canceled&type=evm', 'Transactions')
  await expect.poll(() => links.count()).toBe(25)
  const first = await shown()
  const second = await follow('Older')
  const third = await follow('Older')
  expect(new Set([...first, ...second, ...third]).size).toBe(75)
  await links.first().click()
  await tab.page.getByRole('heading', { level: 1, name: /^Transaction / }).waitFor()
  await tab.page.goBack()
  await expect.poll(shown).toEqual(third)
  await follow('Newer', second)
  await follow('Newer', first)
  expect(await tab.page.getByRole('link', { name: /^Newe/ }).count()).toBe(0)
  await follow('Older', second)
  await follow('Older', third)
  await follow('Newest', first)
  expect(tab.problems).toEqual([])
})

test('a service that stops and comes back is said to be away, and is live again', async () => {
  const tab = await openConsole(browser, service.url)
  await tab.signIn(API_KEY)
  const dot = (text: string) => tab.page.getByRole('status').filter({ hasText: text }).waitFor()
  await dot('Live')
  await service.stop()
  await dot('Reconnecting')
  service = await startService({ dataDir, rpcUrls: NOBODY, env: { APP_PORT: new URL(service.url).port } })
  await dot('Live')
})
