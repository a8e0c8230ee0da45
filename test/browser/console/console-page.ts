import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Pictures of each step, for people who look at a run. Git ignores the folder. */
const SCREENSHOTS = join(import.meta.dirname, '../screenshots')

/** A tab with the console, and what went wrong in it. */
export interface ConsolePage {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of the page, breaches of its content security policy, and requests to other hosts. */
  readonly problems: readonly string[]
  /** Every address that the tab has asked or shown. */
  readonly addresses: readonly string[]
  signIn(secret: string, options?: { readonly keep?: boolean }): Promise<void>
  /** Opens a page of the console, such as `relayers/main`, and waits for its title. */
  go(path: string, title: string | RegExp): Promise<void>
  allowChanges(): Promise<void>
  screenshot(name: string): Promise<void>
}

interface ConsoleOptions {
  readonly width?: number
  readonly colorScheme?: 'light' | 'dark'
}

/** Opens the console of a service in a tab of its own. */
export async function openConsole(
  browser: Browser,
  url: string,
  { width = 1440, colorScheme = 'light' }: ConsoleOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
  const page = await context.newPage()
  const addresses: string[] = []
  const problems = collectProblems(page, { url, addresses })
  await page.goto(`${url}/console`)
  mkdirSync(SCREENSHOTS, { recursive: true })
  return {
    page,
    context,
    problems,
    addresses,
    signIn: async (secret, { keep = false } = {}) => {
      await page.getByLabel('API key').fill(secret)
      if (keep) await page.getByLabel('Keep me signed in on this tab').check()
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('searchbox', { name: 'Search by id, hash or address' }).waitFor()
    },
    go: async (path, title) => {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${path}`)}`)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
    },
    allowChanges: () => page.getByRole('switch', { name: 'Allow changes' }).check(),
    screenshot: async (name) => {
      await page.screenshot({ path: join(SCREENSHOTS, `${name}-${width}.png`), fullPage: true })
    },
  }
}

interface Collection {
  readonly url: string
  readonly addresses: string[]
}

function collectProblems(page: Page, { url, addresses }: Collection): string[] {
  const problems: string[] = []
  page.on('framenavigated', (frame) => addresses.push(frame.url()))
  page.on('request', (request) => {
    addresses.push(request.url())
    if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
      problems.push(`a request to ${request.url()}`)
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    // The browser writes a line for each answer of 400 to 499, and the service gives them on purpose.
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) problems.push(message.text())
  })
  return problems
}

/** Waits until the text is on the page. */
export async function sees(page: Page, text: string | RegExp): Promise<void> {
  await expect.poll(() => page.locator('body').innerText(), { timeout: 10_000 }).toMatch(text)
}
