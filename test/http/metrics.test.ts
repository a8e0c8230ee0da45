import { execFileSync } from 'node:child_process'
import { hostname } from 'node:os'
import { expect, onTestFinished, test, vi } from 'vitest'
import { metricsHandlers } from '../../src/handlers/monitoring.ts'
import { createMetricsServer } from '../../src/http/observability/metrics-server.ts'
import type { RequestObserver } from '../../src/http/observability/observe-requests.ts'
import { createLogger } from '../../src/log.ts'
import { ask, BEARER, call, startStub } from './stub-server.ts'

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

const withMetrics = () =>
  startStub({
    handlers: metricsHandlers({
      visibleIds: async () => [],
      metrics: {
        read: async () => TEXT,
        names: () => ['requests_total'],
        readOne: async (name) => (name === 'requests_total' ? TEXT : undefined),
      },
    }),
  })

const PATHS = [
  '/metrics',
  '/api/v1/metrics',
  '/metrics/requests_total',
  '/api/v1/metrics/requests_total',
  '/debug/metrics/scrape',
  '/api/v1/debug/metrics/scrape/',
]

test.each(PATHS)('%s requires a key', async (path) => {
  const { port } = await withMetrics()
  const refused = await ask(port, { path })
  expect([refused.status, refused.json?.code]).toEqual([401, 'unauthorized'])
  const reply = await ask(port, { path, headers: { authorization: BEARER } })
  expect([reply.status, reply.text]).toEqual([200, TEXT.body])
  expect(reply.headers['content-type']).toBe(TEXT.contentType)
  expect(reply.headers['cache-control']).toBe('no-store')
})

test.each([
  ['application/json', true],
  ['application/json, text/plain, */*', true],
  ['text/plain;q=0.5, application/json', true],
  ['application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1', false],
  ['application/json;q=0.2, */*', false],
  ['*/*', false],
  ['image/png', false],
])('with Accept: %s the names are listed: %s', async (accept, isNames) => {
  const { port } = await withMetrics()
  const headers = { authorization: BEARER, accept }
  const reply = await ask(port, { path: '/metrics', headers })
  expect([reply.status, reply.json ?? reply.text]).toEqual([200, isNames ? ['requests_total'] : TEXT.body])
})

test('a method other than GET, HEAD and OPTIONS is refused', async () => {
  const { port } = await withMetrics()
  for (const path of ['/metrics', '/api/v1/metrics']) {
    const reply = await call(port, 'POST', path, {})
    expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS'])
  }
})

test('a metric that does not exist is not found, and neither is a path beside the metrics', async () => {
  const { port } = await withMetrics()
  const reply = await call(port, 'GET', '/api/v1/metrics/nothing')
  expect([reply.status, reply.json?.error]).toEqual([404, 'There is no metric nothing.'])
  for (const path of ['/api/v1/metricsx', '/metrics/a/b', '/debug/metrics', '/relayers'])
    expect((await call(port, 'GET', path)).status).toBe(404)
})

test.each(PATHS)('%s does not exist without metrics', async (path) => {
  const { port } = await startStub({
    handlers: metricsHandlers({ metrics: undefined, visibleIds: async () => [] }),
  })
  const reply = await call(port, 'GET', path)
  expect([reply.status, reply.json?.error]).toEqual([404, 'This deployment collects no metrics.'])
})

test('the observer receives the operation, never the path', async () => {
  const seen: unknown[] = []
  const observer: RequestObserver = {
    begun: () => void seen.push('begun'),
    answered: ({ seconds, ...answer }) => void seen.push(answer),
    ended: () => void seen.push('ended'),
  }
  const { port } = await startStub({ observer })
  await call(port, 'GET', '/api/v1/relayers/r-1/transactions/t-1')
  await ask(port, { path: '/api/v1/relayers/r-1/transactions/t-1' })
  await call(port, 'GET', '/no/such/path')
  const rest = { method: 'GET' }
  expect(seen).toEqual([
    'begun',
    { operation: 'getTransactionById', status: 200, ...rest },
    'ended',
    'begun',
    { operation: 'getTransactionById', status: 401, ...rest },
    'ended',
    'begun',
    { operation: undefined, status: 404, ...rest },
    'ended',
  ])
})

const LINES: string[] = []
const LOG = createLogger({ level: 'info' }, { write: (line) => void LINES.push(line) })

test('a process that exits immediately has written its last lines', () => {
  const module = JSON.stringify(new URL('../../src/log.ts', import.meta.url).href)
  const program = `const { createLogger } = await import(${module}); createLogger({ level: 'info' }).info('last words'); process.exit(3)`
  const run = () =>
    execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
  expect(run).toThrow(
    expect.objectContaining({ status: 3, stdout: expect.stringContaining('"msg":"last words"') }),
  )
})

test.each([0, 7, 1_700_000_000_999, 1_700_000_001_000, 1_700_000_001_012, 1_700_000_000_998])(
  'a line of the millisecond %i has its time in ISO 8601',
  (now) => {
    vi.spyOn(Date, 'now').mockReturnValue(now)
    onTestFinished(() => void vi.restoreAllMocks())
    LOG.info('line')
    expect(JSON.parse(LINES.pop() ?? '')).toMatchObject({ time: new Date(now).toISOString() })
  },
)
