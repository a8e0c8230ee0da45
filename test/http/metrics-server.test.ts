import { hostname } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { createMetricsServer } from '../../src/http/observability/metrics-server.ts'
import { createLogger } from '../../src/log.ts'
import { ask } from './stub-server.ts'

const TEXT = { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: 'requests_total 1\n' }

async function start(read = async () => TEXT, hostNames: readonly string[] = []): Promise<number> {
  const log = createLogger({ level: 'silent' })
  const metrics = {
    read,
    names: () => ['requests_total', 'relayer_balance'],
    readOne: async (name: string) => (name === 'requests_total' ? TEXT : undefined),
  }
  const server = createMetricsServer({ host: '127.0.0.1', port: 0, metrics, hostNames, log })
  onTestFinished(server.close)
  return (await server.listen()).port
}

test('the page requires no credential', async () => {
  const port = await start()
  const reply = await ask(port, { path: '/metrics?name=x' })
  expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([
    200,
    TEXT.body,
    TEXT.contentType,
  ])
  const head = await ask(port, { method: 'HEAD', path: '/metrics' })
  expect([head.status, head.text, head.headers['content-length']]).toEqual([
    200,
    '',
    String(TEXT.body.length),
  ])
})

test('every other path and method is refused', async () => {
  const port = await start()
  expect((await ask(port, { path: '/' })).status).toBe(404)
  expect((await ask(port, { path: '/api/v1/relayers' })).status).toBe(404)
  expect((await ask(port, { method: 'POST', path: '/metrics' })).status).toBe(405)
})

test('a failure reveals nothing about its cause', async () => {
  const port = await start(() => Promise.reject(new Error('the secret cause')))
  const reply = await ask(port, { path: '/metrics' })
  expect([reply.status, reply.text]).toEqual([500, 'Internal Server Error\n'])
})

test('clients of OpenZeppelin Relayer find their three paths without a credential', async () => {
  const port = await start()
  const json = { accept: 'application/json, text/plain, */*' }
  const names = await ask(port, { path: '/metrics', headers: json })
  expect([names.status, names.json]).toEqual([200, ['requests_total', 'relayer_balance']])
  const scrape = await ask(port, { path: '/debug/metrics/scrape', headers: json })
  expect([scrape.status, scrape.text]).toEqual([200, TEXT.body])
  const one = await ask(port, { path: '/metrics/requests_total', headers: json })
  expect([one.status, one.text, one.headers['content-type']]).toEqual([200, TEXT.body, TEXT.contentType])
  const prefixed = await ask(port, { path: '/api/v1/metrics/requests_total' })
  expect([prefixed.status, prefixed.text]).toEqual([200, TEXT.body])
  const none = await ask(port, { path: '/metrics/nothing' })
  expect([none.status, none.text]).toEqual([404, 'Metric not found\n'])
  expect((await ask(port, { path: '/metrics/a%2Fb' })).status).toBe(404)
})

const statusFor = async (port: number, host: string) =>
  (await ask(port, { path: '/metrics', headers: { host } })).status

test.each([
  '127.0.0.1:8081',
  '10.1.2.3',
  '[::1]:8081',
  'localhost:8081',
  'relayer:8081',
  'Relayer',
  'relayer.prod.svc:8081',
  'relayer.prod.svc.cluster.local.',
  'ip-10-0-0-7.eu-west-1.compute.internal:8081',
  hostname(),
])('a scraper may ask for %s', async (host) => {
  expect(await statusFor(await start(), host)).toBe(200)
})

test.each([
  'evil.example',
  'evil.example:8081',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'svc.evil.example',
  'evil-internal.example',
  '[evil.example]',
  'evil.example.',
])(
  'a page whose name is %s reads nothing, although the name has the address of the service',
  async (host) => {
    const port = await start(() => Promise.reject(new Error('nothing is to be read')))
    const reply = await ask(port, { path: '/metrics', headers: { host } })
    expect([reply.status, reply.text]).toEqual([421, expect.stringContaining('RELAYER_METRICS_HOSTS')])
  },
)

test('the operator names further hosts, or all', async () => {
  const port = await start(undefined, ['Relayer.Example'])
  expect(await statusFor(port, 'relayer.example:8081')).toBe(200)
  expect(await statusFor(port, 'other.example:8081')).toBe(421)
  expect(await statusFor(await start(undefined, ['*']), 'other.example:8081')).toBe(200)
})
