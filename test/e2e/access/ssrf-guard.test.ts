import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { startAnvil } from '../../support/anvil.ts'
import { DEV_ADDRESSES, NOWHERE, RECEIVER, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

type Delivery = Schemas['Delivery']

/** Counts who comes, at a port of this machine. */
async function startListener(status = 204, location = '') {
  let connections = 0
  const server = createServer((_request, response) => {
    response.writeHead(status, location === '' ? {} : { location }).end()
  })
  server.on('connection', () => {
    connections += 1
  })
  server.listen(0, 'localhost')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `http://localhost:${port}/`, count: () => connections }
}

let service: Service

beforeAll(async () => {
  service = await startService({ rpcUrls: ['http://127.0.0.1:9'] })
}, 60_000)
afterAll(() => service.stop())

async function start(env: Record<string, string> = {}, notificationUrl = NOWHERE): Promise<Service> {
  const started = await startService({ rpcUrls: ['http://127.0.0.1:9'], env, notificationUrl })
  onTestFinished(() => started.stop())
  return started
}

/** What became of the first try of a test event. */
async function tryOnce({ api }: Service, id: string): Promise<Delivery> {
  expect((await api('POST', `/notifications/${id}/test`)).status).toBe(200)
  const { body } = await until(
    () => api<Delivery[]>('GET', `/notifications/${id}/deliveries`),
    ({ body: { data } }) => (data[0]?.tries ?? 0) > 0,
  )
  const [delivery] = body.data
  if (delivery === undefined) throw new Error('there is no delivery')
  const { body: shown } = await api<Delivery>('GET', `/notifications/${id}/deliveries/${delivery.id}`)
  return shown.data
}

test('a name that a caller chose and that leads to this machine is not reached by deliveries', async () => {
  const listener = await startListener()
  const { status } = await service.api('POST', '/notifications', { id: 'inside', url: listener.url })
  expect(status).toBe(201)
  expect(JSON.stringify(await tryOnce(service, 'inside'))).toContain('localhost is in a private network')
  // A notification of the file that a caller points there is no way in, either.
  expect((await service.api('PATCH', '/notifications/ops', { url: listener.url })).status).toBe(200)
  expect(JSON.stringify(await tryOnce(service, 'ops'))).toContain('localhost is in a private network')
  expect(listener.count()).toBe(0)
})

test('a deployment that allows private urls reaches this machine, and follows no redirect of it', async () => {
  const target = await startListener()
  const listener = await startListener(307, target.url)
  const open = await start({ RELAYER_ALLOW_PRIVATE_URLS: 'true' })
  await open.api('POST', '/notifications', { id: 'inside', url: listener.url })
  expect(await tryOnce(open, 'inside')).toMatchObject({ status: 'pending', tries: 1 })
  expect([listener.count(), target.count()]).toEqual([1, 0])
})

test('a url of the file leads where the operator wants, and who sends it back unchanged changes nothing', async () => {
  const listener = await startListener()
  const own = await start({}, listener.url)
  expect((await own.api('PATCH', '/notifications/ops', { url: listener.url })).status).toBe(200)
  expect(await tryOnce(own, 'ops')).toMatchObject({ status: 'delivered' })
  expect(listener.count()).toBe(1)
})

test.each([
  'http://127.0.0.1:8545/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://2130706433/',
  'http://[::1]/',
  'http://[::ffff:7f00:1]/',
  'http://10.0.0.1/',
])('%s is refused immediately, as a url of a network and of a notification', async (url) => {
  const notification = await service.api('POST', '/notifications', { url })
  expect([notification.status, notification.body.error]).toEqual([
    400,
    expect.stringMatching(
      /^body\.url: expected a URL that may be reached; .* is in a private network, which/,
    ),
  ])
  const network = await service.api('PATCH', '/networks/evm:anvil', { rpc_urls: [url] })
  expect([network.status, network.body.error]).toEqual([
    400,
    expect.stringMatching(
      /^body\.rpc_urls\[0\]: expected a URL that may be reached; .* private network, which/,
    ),
  ])
})

test('a node that a caller named and that is on this machine is asked nothing', async () => {
  const anvil = await startAnvil()
  onTestFinished(() => anvil.stop())
  const url = anvil.url.replace('127.0.0.1', 'localhost')
  const listener = await startListener()
  const changed = await service.api('PATCH', '/networks/evm:anvil', { rpc_urls: [listener.url, url] })
  expect(changed.status).toBe(200)
  const sent = await service.api('POST', '/relayers/main/transactions', { to: RECEIVER, value: 1 })
  expect(sent.body.metadata?.logs[0]?.message).toContain('localhost is in a private network')
  expect(
    (await service.api('GET', `/relayers/main/transactions/${sent.body.data.id}`)).body.data.status,
  ).toBe('pending')
  expect(await anvil.rpc('eth_getTransactionCount', [DEV_ADDRESSES[0], 'pending'])).toBe('0x0')
  expect(listener.count()).toBe(0)
})
