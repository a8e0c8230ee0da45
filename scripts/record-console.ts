/**
 * `npm run record:console`: takes the pictures of `docs/console.md` again, of a service with a chain of each kind. It needs Chromium, like
 * `npm run test:browser`.
 */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { launchChromium } from '../test/browser/launch.ts'
import { type EveryKind, startEveryKind } from '../test/support/every-kind.ts'
import { API_KEY, DEV_ADDRESSES, RECEIVER } from '../test/support/service.ts'
import { until } from '../test/support/until.ts'

const DOCS = join(import.meta.dirname, '../docs')

/** Small enough to be read in a page of GitHub, and wide enough for two columns. */
const VIEWPORT = { width: 1120, height: 460 }

/** Wei on the accounts of `main` and `other`. */
const BALANCES = [41_870_000_000_000_000_000n, 20_000_000_000_000_000n]

const NAMES = { main: 'Payments', other: 'Refunds', stellar: 'Anchor', solana: 'Rewards' } as const

/** Makes a relayer that is disabled, one that is paused, and a transaction that was replaced while it waits; gives the id of that one. */
async function prepareScene({ service, anvil }: EveryKind): Promise<string> {
  for (const [id, name] of Object.entries(NAMES)) await service.api('PATCH', `/relayers/${id}`, { name })
  for (const [at, address] of DEV_ADDRESSES.entries())
    await anvil.rpc('anvil_setBalance', [address, `0x${BALANCES[at]?.toString(16)}`])
  await service.api('PATCH', '/relayers/other', { policies: { min_balance: 500_000_000_000_000_000 } })
  await service.api('PATCH', '/relayers/stellar', { paused: true })
  const path = '/relayers/main/transactions'
  const request = { to: RECEIVER, value: '250000000000000000', speed: 'safeLow' }
  const { body } = await service.api('POST', path, request)
  const reach = (status: string) =>
    until(
      async () => (await service.api('GET', `${path}/${body.data.id}`)).body.data.status,
      (seen) => seen === status,
    )
  await reach('submitted')
  for (const speed of ['average', 'fastest'])
    await service.api('PUT', `${path}/${body.data.id}`, { ...request, speed })
  await reach('submitted')
  return body.data.id
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('API key').fill(API_KEY)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
}

const world = await startEveryKind({ anvil: { args: ['--no-mining'] } })
const browser = await launchChromium()
try {
  const id = await prepareScene(world)
  const page = await browser.newPage({ viewport: VIEWPORT })
  await page.goto(`${world.service.url}/console`)
  await signIn(page)
  await page.getByText('disabled').first().waitFor()
  await page.getByText('XLM').first().waitFor()
  await page.getByText('SOL').first().waitFor()
  await page.screenshot({ path: join(DOCS, 'console-overview.png') })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ ...VIEWPORT, height: 880 })
  await page.evaluate(`location.hash = '#/transactions/main/${id}'`)
  await page.getByText('market price').waitFor()
  await page.getByText('Next step').waitFor()
  await page.screenshot({ path: join(DOCS, 'console-transaction.png') })
} finally {
  await browser.close()
  await world.stop()
}
