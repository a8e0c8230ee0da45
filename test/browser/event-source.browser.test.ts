import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from '../support/service.ts'
import { launchChromium } from './launch.ts'

let browser: Browser
let named: Server
let stranger: Server
let service: Service

beforeAll(async () => {
  browser = await launchChromium()
  named = await serveEmptyPage()
  stranger = await serveEmptyPage()
  service = await startService({ rpcUrls: [], relayers: [], env: { RELAYER_CORS_ORIGINS: originOf(named) } })
})
afterAll(async () => {
  await browser?.close()
  await service?.stop()
  for (const server of [named, stranger]) server.close()
})

/** A page of an origin of its own. */
async function serveEmptyPage(): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end('<!doctype html><title>page</title>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const originOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function openPage(server: Server): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(originOf(server))
  return page
}

async function streamUrl(query = 'after=0'): Promise<string> {
  const { body } = await service.api<{ ticket: string }>('POST', '/events/stream-tickets', {})
  return `${service.url}/api/v1/events/stream?ticket=${body.data.ticket}&${query}`
}

/** What an EventSource of the page comes to know first: the data of a test event, or an error, with its state. */
function firstOf(page: Page, url: string): Promise<{ data?: string; state?: number }> {
  return page.evaluate(
    (target) =>
      new Promise((resolve) => {
        const source = new EventSource(target)
        source.addEventListener('notification_test', (event) => {
          source.close()
          resolve({ data: (event as Event & { readonly data: string }).data })
        })
        source.onerror = () => resolve({ state: source.readyState })
      }),
    url,
  )
}

test('EventSource of a page whose origin is named follows the stream by a ticket', async () => {
  await service.api('POST', '/notifications/ops/test')
  const { data = '' } = await firstOf(await openPage(named), await streamUrl())
  expect(JSON.parse(data)).toMatchObject({ type: 'notification_test' })
})

test('EventSource gives up with a ticket that was used', async () => {
  const page = await openPage(named)
  const url = await streamUrl()
  expect(await firstOf(page, url)).toHaveProperty('data')
  expect(await firstOf(page, url)).toEqual({ state: 2 })
})

test('a page of another origin reads nothing', async () => {
  expect(await firstOf(await openPage(stranger), await streamUrl())).toEqual({ state: 2 })
})
