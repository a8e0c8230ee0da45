import { emptyResource } from '@opentelemetry/resources'
import { NoopSpanProcessor } from '@opentelemetry/sdk-trace'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { readSeries } from '../../src/metrics/series.ts'
import { toMetricData } from '../../src/telemetry/export.ts'
import type { SamplerSettings } from '../../src/telemetry/settings.ts'
import { createSpanSource } from '../../src/telemetry/span-source.ts'
import { requestLinks, rootIdsOf, rootOf, writeTraceParent } from '../../src/telemetry/transaction-tracer.ts'

const PERIOD = { startTime: [1, 0], endTime: [2, 0] } as const

test('counters, gauges and histograms keep their names, labels and values', async () => {
  const registry = new Registry()
  const registers = [registry]
  new Counter({ name: 'sent_total', help: 'Sent.', labelNames: ['network'], registers }).inc(
    { network: 'a' },
    3,
  )
  const gauge = new Gauge({ name: 'heap_bytes', help: 'Heap.', labelNames: ['part'], registers })
  gauge.set({ part: 'new' }, 1.5)
  gauge.set({ part: 'unknown' }, Number.NaN)
  const histogram = new Histogram({
    name: 'wait_seconds',
    help: 'Wait.',
    labelNames: ['kind'],
    buckets: [1, 5],
    registers,
  })
  new Counter({ name: 'unused_total', help: 'Unused.', labelNames: ['network'], registers })
  for (const seconds of [0.5, 2, 3, 10]) histogram.observe({ kind: 'x' }, seconds)

  const data = toMetricData(await readSeries(registry), {
    startTime: [...PERIOD.startTime],
    endTime: [...PERIOD.endTime],
  })
  expect(data).toMatchObject([
    {
      descriptor: { name: 'sent_total' },
      isMonotonic: true,
      dataPoints: [{ attributes: { network: 'a' }, value: 3 }],
    },
    {
      descriptor: { name: 'heap_bytes', unit: 'By' },
      dataPoints: [{ attributes: { part: 'new' }, value: 1.5 }],
    },
    {
      descriptor: { name: 'wait_seconds', unit: 's', description: 'Wait.' },
      dataPoints: [
        {
          attributes: { kind: 'x' },
          value: { buckets: { boundaries: [1, 5], counts: [1, 2, 1] }, sum: 15.5, count: 4 },
        },
      ],
    },
  ])
  expect(data[1]?.dataPoints).toHaveLength(1)
})

const ID = '0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11'
const REQUEST = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }

function sourceOf(name: SamplerSettings['name'], ratio = 1) {
  const sampler = { name, ratio }
  return createSpanSource({ resource: emptyResource(), sampler, processor: new NoopSpanProcessor() })
}

const traceParent = (flags: string) => `00-${REQUEST.traceId}-${REQUEST.spanId}-${flags}`

test('the trace id of a transaction is its id, and that of an id of another form is a hash', () => {
  expect(rootIdsOf(ID)).toMatchObject({ traceId: '0d9ad9d83f394a399a4b6a8e2c6d1a11' })
  expect(rootIdsOf(ID)).toEqual(rootIdsOf(ID))
  expect(rootIdsOf('imported 1').traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(rootIdsOf('imported 1')).not.toEqual(rootIdsOf('imported 2'))
  expect(rootIdsOf('00000000-0000-0000-0000-000000000000').traceId).not.toBe('0'.repeat(32))
})

describe('a transaction is sampled', () => {
  test.each([
    ['parentbased_always_on', traceParent('01'), 1],
    ['parentbased_always_on', traceParent('00'), 0],
    ['parentbased_always_on', undefined, 1],
    ['parentbased_always_off', traceParent('01'), 1],
    ['parentbased_always_off', undefined, 0],
    ['always_off', traceParent('01'), 0],
    ['always_on', traceParent('00'), 1],
    ['parentbased_always_on', 'nonsense', 1],
  ] as const)('by %s after the request %s: %s', (name, parent, flags) => {
    expect(rootOf({ id: ID, traceParent: parent }, sourceOf(name)).traceFlags).toBe(flags)
  })

  test('by its trace id, in every process alike, where there is no request', () => {
    const sampled = (source: ReturnType<typeof sourceOf>) =>
      Array.from({ length: 200 }, (_, index) => rootOf({ id: `imported ${index}` }, source).traceFlags)
    const first = sampled(sourceOf('parentbased_traceidratio', 0.5))
    expect(sampled(sourceOf('parentbased_traceidratio', 0.5))).toEqual(first)
    expect(new Set(first)).toEqual(new Set([0, 1]))
  })
})

test('a root span has the given ids, and the next span has others', () => {
  const source = sourceOf('always_off')
  const ids = rootIdsOf(ID)
  expect(source.startWithIds(ids, { name: 'transaction' }).spanContext()).toMatchObject({
    ...ids,
    traceFlags: 1,
  })
  expect(source.tracer.startSpan('other').spanContext().traceId).not.toBe(ids.traceId)
})

test('the link leads to the request, and a context that cannot be read gives none', () => {
  expect(requestLinks({ id: ID, traceParent: traceParent('01') })).toMatchObject([{ context: REQUEST }])
  expect(requestLinks({ id: ID, traceParent: 'nonsense' })).toEqual([])
  expect(requestLinks({ id: ID })).toEqual([])
  expect(writeTraceParent({ ...REQUEST, traceFlags: 1 })).toBe(traceParent('01'))
})
