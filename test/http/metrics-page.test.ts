import { expect, test } from 'vitest'
import type { RequestObserver } from '../../src/http/observability/observe-requests.ts'
import { ask, BEARER, call, startStub } from './stub-server.ts'

const TEXT = { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: 'requests_total 1\n' }

const SILENT: RequestObserver = { begun: () => {}, answered: () => {}, ended: () => {} }

const withMetrics = (observer: RequestObserver = SILENT) =>
  startStub({ metrics: { observer, read: async () => TEXT } })

test.each(['/metrics', '/api/v1/metrics'])('%s requires a key', async (path) => {
  const { port } = await withMetrics()
  const refused = await ask(port, { path })
  expect([refused.status, refused.json?.code]).toEqual([401, 'unauthorized'])
  const reply = await ask(port, { path, headers: { authorization: BEARER } })
  expect([reply.status, reply.text]).toEqual([200, TEXT.body])
  expect(reply.headers['content-type']).toBe(TEXT.contentType)
  expect(reply.headers['cache-control']).toBe('no-store')
})

test('another method is refused', async () => {
  const { port } = await withMetrics()
  const reply = await call(port, 'POST', '/api/v1/metrics', {})
  expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD'])
})

test.each(['/metrics', '/api/v1/metrics'])('%s does not exist without metrics', async (path) => {
  const { port } = await startStub()
  expect((await call(port, 'GET', path)).status).toBe(404)
})

test('the observer receives the operation, never the path', async () => {
  const seen: unknown[] = []
  const { port } = await withMetrics({
    begun: () => void seen.push('begun'),
    answered: ({ seconds, ...answer }) => void seen.push(answer),
    ended: () => void seen.push('ended'),
  })
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
