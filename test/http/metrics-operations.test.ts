import { expect, test } from 'vitest'
import { metricsHandlers } from '../../src/handlers/monitoring.ts'
import { ask, BEARER, call, startStub } from './stub-server.ts'

const TEXT = { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: 'requests_total 1\n' }

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

test('another method is refused', async () => {
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
