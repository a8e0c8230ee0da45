import { expect, onTestFinished, test } from 'vitest'
import { createMetricsServer } from '../../src/http/observability/metrics-server.ts'
import { createLogger } from '../../src/log.ts'
import { ask } from './stub-server.ts'

const TEXT = { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: 'requests_total 1\n' }

async function start(read = async () => TEXT): Promise<number> {
  const log = createLogger({ level: 'silent' })
  const server = createMetricsServer({ host: '127.0.0.1', port: 0, read, log })
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
