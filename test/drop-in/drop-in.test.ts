import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EveryKind, startEveryKind } from '../support/every-kind.ts'
import { API_KEY } from '../support/service.ts'
import { until } from '../support/until.ts'
import { EXCHANGES } from './exchanges.ts'
import { misfits } from './shape.ts'

let world: EveryKind
let sent: string

beforeAll(async () => {
  const path = join(import.meta.dirname, '../e2e/plugins/fixtures/every-thing.ts')
  const plugins = [{ id: 'echo', path, allow_get_invocation: true, emit_logs: true }]
  world = await startEveryKind({ anvil: { args: ['--no-mining'] }, plugins })
  const { body } = await world.service.api('POST', '/relayers/main/transactions', {
    to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    value: 1,
    speed: 'average',
  })
  sent = body.data.id
  await until(
    async () => (await world.service.api('GET', `/relayers/main/transactions/${sent}`)).body.data,
    ({ status }) => status === 'submitted',
  )
}, 60_000)
afterAll(() => world.stop())

describe('a client of OpenZeppelin Relayer is served as before', () => {
  test.each(
    EXCHANGES.map((exchange) => [`${exchange.operation} ${exchange.about ?? ''}`, exchange] as const),
  )('%s', async (_name, { method, path, body, status = 200, data, list }) => {
    const content = typeof body === 'function' ? body(world) : body
    const answer = await world.service.api(method, path.replace('{sent}', sent), content)
    expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error: undefined })
    expect(answer.body.success).toBe(true)
    expect(misfits(answer.body.data, data)).toEqual([])
    if (list) {
      expect(misfits(answer.body.pagination, PAGINATION, 'pagination')).toEqual([])
      expect(answer.body.data).not.toEqual([])
    }
  })

  const PAGINATION = { current_page: 'integer', per_page: 'integer', total_items: 'integer' } as const
})

describe('an answer without an envelope', () => {
  test.each([
    ['main', { jsonrpc: '2.0', method: 'eth_blockNumber', params: [], id: 1 }],
    ['solana', { jsonrpc: '2.0', method: 'getLatestBlockhash', params: [], id: 1 }],
    ['stellar', { jsonrpc: '2.0', method: 'getLatestLedger', id: 'a' }],
  ])('has the reply of the node to rpc of %s', async (relayer, call) => {
    const { status, body } = await world.service.api<never>('POST', `/relayers/${relayer}/rpc`, call)
    expect(status).toBe(200)
    expect(body).toMatchObject({ jsonrpc: '2.0', id: call.id, result: expect.anything() })
  })

  test('tells health and readiness without a credential', async () => {
    const health = await fetch(`${world.service.url}/api/v1/health`)
    expect({ status: health.status, text: await health.text() }).toEqual({ status: 200, text: 'OK' })
    const ready = await fetch(`${world.service.url}/api/v1/ready`)
    expect(ready.status).toBe(200)
    expect(await ready.json()).toMatchObject({
      ready: true,
      status: 'healthy',
      timestamp: expect.any(String),
    })
  })
})

describe('metrics, whose three calls send no credential', () => {
  /** As its generated client sends them, with the port of the metrics as the base url. */
  const get = async (path: string) =>
    fetch(new URL(path, world.service.metricsUrl), {
      headers: { accept: 'application/json, text/plain, */*' },
    })

  test('listMetrics gives the names', async () => {
    const answer = await get('/metrics')
    expect(answer.status).toBe(200)
    const names = (await answer.json()) as string[]
    expect(names).toEqual(expect.arrayContaining(['requests_total', 'transactions_created_total']))
  })

  test('metricDetail and scrapeMetrics give text', async () => {
    const one = await get('/metrics/transactions_created_total')
    expect([one.status, one.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ])
    expect(await one.text()).toContain('transactions_created_total{')
    expect(await (await get('/debug/metrics/scrape')).text()).toContain('requests_total{')
    const none = await get('/metrics/nothing')
    expect([none.status, (await none.text()).trim()]).toEqual([404, 'Metric not found'])
  })

  test('the main port has them below /api/v1, with the key', async () => {
    const url = `${world.service.url}/api/v1/metrics`
    expect((await fetch(url)).status).toBe(401)
    const headers = { authorization: `Bearer ${API_KEY}`, accept: 'application/json' }
    expect(await (await fetch(url, { headers })).json()).toContain('requests_total')
  })
})

describe('failures', () => {
  test.each([
    ['a relayer that does not exist', 'GET', '/relayers/nobody', undefined, 404],
    ['a transaction that does not exist', 'GET', '/relayers/main/transactions/nothing', undefined, 404],
    ['a transaction of another relayer', 'GET', '/relayers/other/transactions/{sent}', undefined, 404],
    ['a network that does not exist', 'GET', '/networks/evm:nowhere', undefined, 404],
    ['a body without its required field', 'POST', '/relayers/main/transactions', {}, 400],
    ['a body that is no JSON', 'POST', '/relayers/main/sign', '{', 400],
    ['a query that is no number', 'GET', '/relayers?page=abc', undefined, 400],
  ])('%s is answered with the failure of the interface', async (_name, method, path, body, status) => {
    const answer = await world.service.api(method, path.replace('{sent}', sent), body)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ success: false, data: null, error: expect.any(String) })
  })

  test('a request without a credential is unauthorized', async () => {
    const answer = await fetch(`${world.service.url}/api/v1/relayers`)
    expect(answer.status).toBe(401)
    expect(await answer.json()).toMatchObject({ success: false, message: 'Unauthorized' })
  })

  test('a second record of the same name is a conflict, not a fault', async () => {
    const twice = async () =>
      (
        await world.service.api('POST', '/notifications', {
          id: 'twice',
          type: 'webhook',
          url: 'https://example.com',
        })
      ).status
    expect([await twice(), await twice()]).toEqual([201, 409])
  })

  test('the key may come in any case of its scheme', async () => {
    const answer = await fetch(`${world.service.url}/api/v1/relayers`, {
      headers: { authorization: `bearer ${API_KEY}` },
    })
    expect(answer.status).toBe(200)
  })
})
