import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SignInWorld, startSignInWorld } from '../../e2e/sign-in/sign-in-world.ts'
import { API_KEY } from '../../support/service.ts'
import { launchChromium } from '../launch.ts'
import { violationsOf } from '../violations.ts'
import { openConsole, sees } from './console-page.ts'

let world: SignInWorld
let browser: Browser
beforeAll(async () => {
  const env = { STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
  const options = { rpcUrls: [], relayers: [], secondPerson: {}, env }
  ;[world, browser] = await Promise.all([startSignInWorld({}, options), launchChromium()])
})
afterAll(async () => {
  await browser?.close()
  await world?.stop()
})

/** Opens the console, and signs in at the form of the provider. */
async function signInAs(subject: string, look: Parameters<typeof openConsole>[2] = {}) {
  world.provider.user = undefined
  const tab = await openConsole(browser, world.service.url, look)
  await tab.page.getByRole('link', { name: 'Sign in with Example' }).click()
  await tab.page.getByLabel('Subject').fill(subject)
  await tab.page.getByRole('button', { name: 'Continue' }).click()
  return tab
}

test('a person signs in with the provider, is named, stays signed in after a reload, and signs out', async () => {
  const { page, context, screenshot } = await signInAs('ada')
  const navigation = page.getByRole('navigation', { name: 'Pages of the console' })
  await navigation.getByRole('link', { name: 'ada example (ada@example.com)' }).waitFor()
  await sees(page, /Live/)
  await screenshot('signed-in-with-provider')
  expect(await page.evaluate('document.cookie')).toBe('')
  expect(await page.evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}])')).not.toContain(
    'session',
  )
  const [cookie] = (await context.cookies()).filter(({ name }) => name === '__Host-relayer-session')
  expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax', path: '/' })
  await page.reload()
  await navigation.getByRole('link', { name: 'ada example (ada@example.com)' }).click()
  await sees(page, /Roles\s+admin/)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Sign in with Example' }).waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'Sign in with Example' }).waitFor()
  await screenshot('sign-in-with-provider')
  await context.close()
})

test('an admin changes something as a person, sees who is signed in, and signs someone out, whose page then asks again', async () => {
  const viewer = await signInAs('vera')
  await sees(viewer.page, /vera example/)
  const admin = await signInAs('ada')
  await admin.page.getByRole('navigation', { name: 'Pages of the console' }).waitFor()
  await admin.allowChanges()
  await admin.go('sessions', 'Sessions')
  const row = admin.page.getByRole('row').filter({ hasText: 'vera example' })
  await row.getByText('viewer').waitFor()
  await admin.screenshot('sessions')
  await row.getByRole('button', { name: 'Sign out' }).click()
  await admin.page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await row.waitFor({ state: 'detached' })
  await viewer.page.evaluate("location.hash = '#/networks'")
  await viewer.page.getByRole('link', { name: 'Sign in with Example' }).waitFor()
  await admin.go('audit', 'Audit log')
  await sees(admin.page, /ada example[\s\S]*Signed out a person/)
  await viewer.context.close()
  await admin.context.close()
})

test('a person without a role gets a page that says why, and an API key still signs in', async () => {
  const { page, signIn, context } = await signInAs('nora')
  await sees(page, /You are not signed in[\s\S]*No role is configured for you/)
  await page.getByRole('link', { name: 'Back to the console' }).click()
  await signIn(API_KEY)
  await sees(page, /API key root/)
  await context.close()
})

test('a person proposes an API key with a role, another one approves it and gets its secret, once', async () => {
  const ada = await signInAs('ada')
  await ada.page.getByRole('navigation', { name: 'Pages of the console' }).waitFor()
  await ada.allowChanges()
  await ada.go('api-keys', 'API keys')
  await ada.page.getByRole('button', { name: 'New API key' }).click()
  const form = ada.page.getByRole('dialog')
  await form.getByLabel('Name').fill('Payments')
  await form.getByLabel('Role').selectOption('Application: sends and follows transactions')
  await form.getByRole('button', { name: 'Create the key' }).click()
  await sees(ada.page, /Nothing is changed yet: proposal .* waits until .* for another person to approve it/)
  await ada.screenshot('proposed')
  const alan = await signInAs('alan')
  await alan.page.getByRole('navigation', { name: 'Pages of the console' }).waitFor()
  await alan.allowChanges()
  await alan.go('proposals', 'Proposals')
  const row = alan.page.getByRole('row').filter({ hasText: 'createApiKey' })
  await row.getByText('Show').click()
  await sees(alan.page, /transactions:write/)
  await alan.screenshot('proposals')
  await row.getByRole('button', { name: 'Approve' }).click()
  await alan.page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
  await sees(alan.page, /rlk_/)
  await ada.context.close()
  await alan.context.close()
})

test.each([
  { width: 390, colorScheme: 'dark' },
  { width: 1440, colorScheme: 'light' },
] as const)('the pages of people break no rule of accessibility with %o', async (look) => {
  const ada = await signInAs('ada', look)
  await ada.page.getByRole('searchbox', { name: 'Search by id, hash or address' }).waitFor()
  await ada.allowChanges()
  const alan = await world.signedIn('alan')
  const body = { name: `App at ${look.width}`, scopes: ['relayers:read'] }
  expect((await alan.api('POST', '/api-keys', { body })).code).toBe('second_person_required')
  for (const [path, title, text] of [
    ['sessions', 'Sessions', /ada example/],
    ['proposals', 'Proposals', /createApiKey/],
  ] as const) {
    await ada.go(path, title)
    await sees(ada.page, text)
    await expect.poll(() => ada.page.locator('.loading').count()).toBe(0)
    expect([path, await violationsOf(ada.page)]).toEqual([path, []])
    expect(await ada.page.evaluate('document.documentElement.scrollWidth')).toBe(look.width)
  }
  await ada.context.close()
})
