import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type OtlpReceiver,
  type ReceivedMetric,
  type ReceivedSpan,
  startOtlpReceiver,
} from '../../support/otlp-receiver.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER, SERVICE_SECRETS } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const TRACEPARENT = `00-${CALLER.traceId}-${CALLER.spanId}-01`
const OTLP_SECRET = 'a-credential-of-the-collector'

let collector: OtlpReceiver
let hook: Receiver
let story: Scenario

beforeAll(async () => {
  collector = await startOtlpReceiver()
  hook = await startReceiver()
  story = await startScenario({
    notificationUrl: `${hook.url}?token=a-token-in-the-url-of-the-receiver`,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${OTLP_SECRET}`,
      OTEL_SERVICE_NAME: 'relayer-of-the-test',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    },
  })
})

afterAll(async () => {
  await story.stop()
  await hook.stop()
  await collector.stop()
})

/** Sends a transaction, mines it, and waits until its root span has arrived. */
async function send(headers: Record<string, string>): Promise<{ id: string; spans: ReceivedSpan[] }> {
  const answer = await story.service.api('POST', '/relayers/main/transactions', TRANSFER, headers)
  expect(answer.status).toBe(200)
  const { id } = answer.body.data
  await story.settle()
  const spans = await until(
    async () => collector.spans.filter((span) => span.traceId === traceOf(id)),
    (found) => found.some(({ name }) => name === 'transaction'),
  )
  return { id, spans }
}

const TRANSFER = { to: RECEIVER, value: 1, data: '0x', gas_limit: 21_000, speed: 'fast' }

function traceOf(id: string): string {
  return id.replaceAll('-', '')
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.find((span) => span.name === name)
  if (found === undefined)
    throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(', ')}`)
  return found
}

test('the trace of a transaction has its steps, RPC calls, statements and deliveries, and links to the request', async () => {
  const { id, spans } = await send({ traceparent: TRACEPARENT })
  const request = await until(
    async () =>
      collector.spans.find(
        ({ attributes }) => attributes['relayer.transaction.id'] === id && attributes['http.route'],
      ),
    (found) => found !== undefined,
  )
  expect(request).toMatchObject({
    name: 'POST /api/v1/relayers/{relayer_id}/transactions',
    kind: 2,
    traceId: CALLER.traceId,
    parentSpanId: CALLER.spanId,
    attributes: {
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'relayer.operation': 'sendTransaction',
      'relayer.relayer.id': 'main',
    },
    resource: { 'service.name': 'relayer-of-the-test', 'deployment.environment.name': 'test' },
  })
  const root = named(spans, 'transaction')
  expect(root).toMatchObject({
    parentSpanId: '',
    links: [{ traceId: CALLER.traceId, spanId: request?.spanId }],
    attributes: {
      'relayer.transaction.id': id,
      'relayer.transaction.status': 'confirmed',
      'relayer.network': 'anvil',
    },
  })
  expect(request?.links).toContainEqual({ traceId: root.traceId, spanId: root.spanId })
  const steps = ['accept', 'prepare', 'store', 'broadcast', 'watch', 'settle', 'confirm'].map(
    (name) => `transaction ${name}`,
  )
  for (const step of steps)
    expect(named(spans, step), step).toMatchObject({ attributes: { 'relayer.transaction.id': id } })
  expect(named(spans, 'transaction prepare').parentSpanId).toBe(root.spanId)
  expect(root.end).toBeGreaterThanOrEqual(named(spans, 'transaction broadcast').end)

  const broadcast = named(spans, 'transaction broadcast')
  const call = spans.find(({ attributes }) =>
    String(attributes['rpc.method']).includes('eth_sendRawTransaction'),
  )
  expect(call).toMatchObject({
    kind: 3,
    parentSpanId: broadcast.spanId,
    attributes: { 'relayer.network': 'anvil', 'server.address': new URL(story.anvil.url).host },
  })
  const statement = spans.find(
    ({ parentSpanId }) => parentSpanId === named(spans, 'transaction store').spanId && parentSpanId,
  )
  expect(statement).toBeDefined()
  expect(
    spans.some(({ attributes }) => String(attributes['db.query.text']).includes('insert into attempts')),
  ).toBe(true)
})

test('the request that cancels a transaction links to its trace', async () => {
  const { id } = await story.send(TRANSFER)
  await story.reach(id, 'submitted')
  expect((await story.cancel(id)).status).toBe(200)
  const request = await until(
    async () => collector.spans.find(({ name }) => name.startsWith('DELETE ')),
    (found) => found !== undefined,
  )
  expect(request).toMatchObject({
    name: 'DELETE /api/v1/relayers/{relayer_id}/transactions/{transaction_id}',
    attributes: { 'relayer.transaction.id': id },
    links: [{ traceId: traceOf(id) }],
  })
  await story.settle()
})

test('a receiver gets the context of its delivery in the trace of the transaction', async () => {
  const { id } = await send({ traceparent: TRACEPARENT })
  const mine = await until(
    async () => hook.received.filter(({ body }) => body.payload.id === id),
    (found) => found.some(({ body }) => body.payload.status === 'confirmed'),
  )
  for (const { headers } of mine) {
    const [, traceId, spanId, flags] = String(headers.traceparent).split('-')
    expect([traceId, flags]).toEqual([traceOf(id), '01'])
    const span = await until(
      async () => collector.spans.find((one) => one.spanId === spanId),
      (found) => found !== undefined,
    )
    expect(span).toMatchObject({
      name: 'POST webhook',
      kind: 3,
      attributes: { 'http.response.status_code': 204, 'relayer.notification.id': 'ops' },
    })
  }
})

test('a trace context that is not valid is ignored, and one that is not sampled exports nothing', async () => {
  await send({ traceparent: '00-nonsense-01' })
  const before = collector.spans.length
  const answer = await story.service.api('POST', '/relayers/main/transactions', TRANSFER, {
    traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-00`,
  })
  const { id } = answer.body.data
  await story.settle()
  const mine = await until(
    async () => hook.received.filter(({ body }) => body.payload.id === id),
    (found) => found.some(({ body }) => body.payload.status === 'confirmed'),
  )
  for (const { headers } of mine)
    expect(String(headers.traceparent)).toMatch(new RegExp(`^00-${traceOf(id)}-[0-9a-f]{16}-00$`))
  // A sampled one that comes after it has arrived, so the others would have, too.
  await send({})
  expect(collector.spans.length).toBeGreaterThan(before)
  expect(collector.spans.filter(({ traceId }) => traceId === traceOf(id))).toEqual([])
})

/** Waits for an export of this metric that has values. The first export may be older than the first transaction. */
async function exported(metric: string): Promise<ReceivedMetric> {
  return until(
    async () =>
      collector.metrics.find(({ name }) => name === metric) ?? { name: metric, kind: 'sum', points: [] },
    ({ points }) => points.length > 0,
  )
}

test('metrics are exported with their names, and the metrics page stays away', async () => {
  const created = await exported('transactions_created_total')
  expect(created.points[0]?.attributes).toEqual({ relayer_id: 'main', network_type: 'evm' })
  const stages = await exported('transaction_processing_seconds')
  expect(stages.kind).toBe('histogram')
  expect(stages.points[0]?.attributes).toMatchObject({ network: 'anvil', network_type: 'evm' })
  for (const { buckets, bounds, value } of stages.points) {
    expect(buckets.length).toBe(bounds.length + 1)
    expect(buckets.reduce((sum, count) => sum + count, 0)).toBe(value)
  }
  expect(collector.metrics.filter(({ points }) => points.length === 0)).toEqual([])
  expect((await story.service.api('GET', '/metrics')).status).toBe(404)
})

test('no secret is exported, and the credential of the collector is in its header alone', () => {
  const text = collector.text()
  for (const secret of [...SERVICE_SECRETS, 'a-token-in-the-url-of-the-receiver'])
    expect(text.includes(secret), secret).toBe(false)
  expect(collector.headers[0]?.authorization).toBe(`Bearer ${OTLP_SECRET}`)
  expect(text.split(OTLP_SECRET).length - 1).toBe(collector.headers.length)
})
