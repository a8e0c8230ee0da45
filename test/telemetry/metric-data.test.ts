import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { readSeries } from '../../src/metrics/series.ts'
import { toMetricData } from '../../src/telemetry/export.ts'

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
