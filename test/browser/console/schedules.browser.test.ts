import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { formatExact } from '../../../console/src/format/amounts.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { type Schedule, schedulesOf } from '../../support/schedules.ts'
import { API_KEY, callService, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { launchChromium } from '../launch.ts'
import { type ConsolePage, openConsole, sees } from './console-page.ts'

let story: Scenario
let browser: Browser
let payrollKey: string

beforeAll(async () => {
  ;[story, browser] = await Promise.all([startScenario(), launchChromium()])
  const { body } = await story.service.api<{ secret: string }>('POST', '/api-keys', {
    id: 'payroll',
    name: 'Payroll',
    scopes: ['transactions:read', 'transactions:write'],
    relayers: ['main'],
    rules: { limits: [{ per: 'day', value: '1000000000000000000', count: 100 }], require_approval: {} },
  })
  payrollKey = body.data.secret
})
afterAll(async () => {
  await browser?.close()
  await story?.stop()
})

/** Each run takes a hundredth of a coin, and what it pays for gas. */
const WAGE = { to: RECEIVER, value: '10000000000000000', speed: 'fast' }

describe.each([1440, 390])('a person with a screen of %i px', (width) => {
  let tab: ConsolePage

  beforeAll(async () => {
    tab = await openConsole(browser, story.service.url, { width })
    await tab.signIn(API_KEY)
    await tab.go('schedules', 'Schedules')
  })
  afterEach(() => expect(tab.problems).toEqual([]))
  afterAll(() => tab?.context.close())

  const own = () => schedulesOf(story.service.api)
  const byPayroll = () =>
    schedulesOf((method, path, body) =>
      callService(story.service.url, {
        method,
        path,
        body,
        headers: { authorization: `Bearer ${payrollKey}` },
      }),
    )
  const panel = () => tab.page.getByRole('region', { name: 'What will be sent', exact: true })
  const all = () => tab.page.getByRole('region', { name: 'Schedules', exact: true })
  const rowIn = (place: ReturnType<typeof panel>, name: string) =>
    place.getByRole('row').filter({ hasText: name })
  const press = (name: string, button: string) =>
    rowIn(all(), name).getByRole('button', { name: button, exact: true }).click()
  const confirm = (name: string) =>
    tab.page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  const becomes = (id: string, state: Schedule['state']) =>
    until(
      () => own().get(id),
      (schedule) => schedule.state === state,
    )

  test('sees a new schedule appear, with what it sends in the next seven days and the most that it costs', async () => {
    const name = `Wages ${width}`
    const { id, max_cost_per_run: each } = await own().mustCreate({
      name,
      cron: '0 9 * * *',
      timezone: 'Europe/Berlin',
      transaction: WAGE,
    })
    const row = rowIn(panel(), name)
    await row.waitFor()
    const cells = await row.getByRole('cell').allInnerTexts()
    expect(cells.join(' ')).toMatch(/\bmain\b.*\b7\b/s)
    expect(BigInt(each ?? '0')).toBeGreaterThan(10_000_000_000_000_000n)
    // Each figure is there to its last digit, for the pointer.
    expect(await row.locator('.amount').getAttribute('title')).toBe(
      `${formatExact(7n * BigInt(each ?? '0'), 18)} ETH`,
    )
    await expect.poll(() => rowIn(all(), name).innerText()).toMatch(/active.*0 9 \* \* \*.*Europe\/Berlin/s)
    if (width > 1000) await sees(tab.page, /Version \d+\.\d+\.\d+/)
    await tab.screenshot('schedules')
    await own().change(id, { max_runs: 2 })
    await expect.poll(async () => (await row.getByRole('cell').allInnerTexts()).join(' ')).toMatch(/\b2\b/)
    await own().remove(id)
    await expect.poll(() => row.count()).toBe(0)
  })

  test('pauses and resumes one, and it is in the next seven days only while it is active', async () => {
    const name = `Rebalance ${width}`
    const { id } = await own().mustCreate({ name, cron: '30 6 * * 1', transaction: WAGE })
    await rowIn(panel(), name).waitFor()
    expect(await rowIn(all(), name).getByRole('button').count()).toBe(0)
    await tab.allowChanges()
    await press(name, 'Pause')
    await confirm('Pause')
    await becomes(id, 'paused')
    await expect.poll(() => rowIn(panel(), name).count()).toBe(0)
    await expect.poll(() => rowIn(all(), name).innerText()).toContain('API key root paused it.')
    await press(name, 'Resume')
    await sees(tab.page, 'It sends in the name of this API key from then on.')
    await confirm('Resume')
    await becomes(id, 'active')
    await rowIn(panel(), name).waitFor()
  })

  test('approves one that another key has made, and refuses another one', async () => {
    const made: Schedule[] = []
    for (const name of [`Salaries ${width}`, `Bonus ${width}`])
      made.push(
        await byPayroll().mustCreate({ name, cron: '0 8 * * *', transaction: WAGE, approval: 'once' }),
      )
    const [salaries, bonus] = made
    if (salaries === undefined || bonus === undefined) throw new Error('not created')
    expect(salaries.state).toBe('awaiting_approval')
    await expect
      .poll(() => rowIn(all(), `Salaries ${width}`).innerText())
      .toContain(salaries.approval_reasons?.[0])
    expect(await rowIn(panel(), `Salaries ${width}`).count()).toBe(0)
    await press(`Salaries ${width}`, 'Approve')
    await sees(tab.page, 'No run waits for these reasons any more, until the schedule is changed.')
    await tab.screenshot('schedules-approve')
    await confirm('Approve')
    expect(await becomes(salaries.id, 'active')).toMatchObject({ approved_by: 'root' })
    await rowIn(panel(), `Salaries ${width}`).waitFor()
    await press(`Bonus ${width}`, 'Refuse')
    await confirm('Refuse')
    await becomes(bonus.id, 'paused')
    await expect.poll(() => rowIn(all(), `Bonus ${width}`).innerText()).toContain('refused it')
  })

  test('deletes one, after being told what stays', async () => {
    const name = `Rebalance ${width}`
    await press(name, 'Delete')
    await sees(tab.page, 'Transactions that were sent stay.')
    await confirm('Delete')
    await expect.poll(() => rowIn(all(), name).count()).toBe(0)
    await expect.poll(() => rowIn(panel(), name).count()).toBe(0)
    for (const one of [`Salaries ${width}`, `Bonus ${width}`]) {
      await press(one, 'Delete')
      await confirm('Delete')
      await expect.poll(() => rowIn(all(), one).count()).toBe(0)
    }
  })
})
