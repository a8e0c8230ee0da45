import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/time/clock.ts'
import { createLogger } from '../../src/log.ts'
import { createBoundedLabel } from '../../src/metrics/bounded-label.ts'
import { createMetrics } from '../../src/metrics/metrics.ts'
import { createRequestMetrics } from '../../src/metrics/request-metrics.ts'
import { createRpcMetrics } from '../../src/metrics/rpc-metrics.ts'
import type { StoredState } from '../../src/metrics/state.ts'
import { createTestClock } from '../support/clock.ts'
import { parseMetrics, type Sample, totalOf } from '../support/metrics-text.ts'

const log = createLogger({ level: 'silent' })

const NOTHING: StoredState = {
  transactions: [],
  deadLetters: new Map(),
  disabledRelayers: new Map(),
  leases: new Map(),
}

const samplesOf = async (registry: Registry): Promise<Sample[]> => parseMetrics(await registry.metrics())

test('a label keeps the first values that it sees and calls all others one', () => {
  const label = createBoundedLabel(2)
  expect(['a', 'b', 'c', 'a', 'd', 'b'].map(label)).toEqual(['a', 'b', 'other', 'a', 'other', 'b'])
})

test('requests are counted by operation; unknown paths and methods count as other', async () => {
  const registry = new Registry()
  const observer = createRequestMetrics(registry)
  for (const method of ['GET', 'BREW', 'X-1', 'X-2']) {
    observer.begun()
    observer.answered({ method, status: 404, seconds: 0.1 })
    observer.ended()
  }
  observer.begun()
  observer.answered({ operation: 'sign', method: 'POST', status: 200, seconds: 0.1 })
  const samples = await samplesOf(registry)
  expect(samples.filter(({ name }) => name === 'requests_total')).toEqual([
    { name: 'requests_total', labels: { endpoint: 'other', method: 'GET', status: '404' }, value: 1 },
    { name: 'requests_total', labels: { endpoint: 'other', method: 'other', status: '404' }, value: 3 },
    { name: 'requests_total', labels: { endpoint: 'sign', method: 'POST', status: '200' }, value: 1 },
  ])
  expect(totalOf(samples, 'error_requests_total')).toBe(4)
  expect(totalOf(samples, 'request_latency_seconds_count', { endpoint: 'sign' })).toBe(1)
  expect(totalOf(samples, 'in_flight_requests')).toBe(1)
})

test('an RPC request counts once for each method in it; a method of a caller has no name', async () => {
  const registry = new Registry()
  const observer = createRpcMetrics(registry)('sepolia')
  observer.asked({ methods: ['eth_call', 'eth_call', 'eth_blockNumber', 'debug_1', 'debug_2'], seconds: 0.2 })
  observer.asked({ methods: ['eth_call'], seconds: 10, failure: 'slow' })
  const samples = await samplesOf(registry)
  const count = (method: string) =>
    totalOf(samples, 'rpc_call_latency_seconds_count', { network: 'sepolia', method })
  expect(['eth_call', 'eth_blockNumber', 'other', 'debug_1'].map(count)).toEqual([2, 1, 1, undefined])
  expect(samples.filter(({ name }) => name === 'api_rpc_failures_total')).toEqual([
    {
      name: 'api_rpc_failures_total',
      labels: { network: 'sepolia', method: 'eth_call', error_type: 'slow' },
      value: 1,
    },
  ])
})

test('relayers beyond the limit share a label, and ended series disappear', async () => {
  const clock = createTestClock()
  const metrics = createMetrics({ clock, log })
  const many = Array.from({ length: 130 }, (_, index) => ({
    relayerId: `r-${index}`,
    networkType: 'evm',
    status: 'pending',
    count: 2,
  }))
  let state: StoredState = {
    ...NOTHING,
    transactions: many,
    eventsLag: 7,
    disabledRelayers: new Map([['BalanceCheckFailed', 2]]),
    leases: new Map([['watch', 3]]),
  }
  metrics.watch({ workers: () => [], stored: async () => state })
  const first = parseMetrics((await metrics.read()).body)
  const series = first.filter(({ name }) => name === 'transactions_by_status')
  expect(series).toHaveLength(101)
  expect(totalOf(first, 'transactions_by_status', { relayer_id: 'other' })).toBe(60)
  expect(totalOf(first, 'events_relay_lag')).toBe(7)
  expect(totalOf(first, 'leases_held', { kind: 'watch' })).toBe(3)
  expect(totalOf(first, 'relayers_disabled', { reason: 'BalanceCheckFailed' })).toBe(2)

  state = NOTHING
  clock.advance(1_000)
  const then = parseMetrics((await metrics.read()).body)
  for (const name of ['transactions_by_status', 'events_relay_lag', 'leases_held', 'relayers_disabled'])
    expect(totalOf(then, name)).toBeUndefined()
})

test('the database is asked at most once a second, however many look', async () => {
  const clock = createTestClock()
  const metrics = createMetrics({ clock, log })
  let asked = 0
  metrics.watch({
    workers: () => [],
    stored: async () => {
      asked += 1
      return NOTHING
    },
  })
  await Promise.all([metrics.read(), metrics.read(), metrics.read()])
  expect(asked).toBe(1)
  clock.advance(1_000)
  await metrics.read()
  expect(asked).toBe(2)
})

test.each([
  ['fails', async () => Promise.reject(new Error('gone'))],
  ['hangs', () => new Promise<StoredState>(() => {})],
])('a database that %s takes nothing away but what it alone knows', async (_how, broken) => {
  const clock = createTestClock()
  const metrics = createMetrics({ clock, log })
  metrics.watch({
    workers: () => [
      { name: 'watch sepolia', quietMs: 500 },
      { name: 'watch mainnet', quietMs: 70_000, error: 'the node said so' },
    ],
    stored: broken,
  })
  const reading = metrics.read()
  clock.advance(3_000)
  const samples = parseMetrics((await reading).body)
  expect(totalOf(samples, 'database_answers')).toBe(0)
  expect(totalOf(samples, 'transactions_by_status')).toBeUndefined()
  expect(totalOf(samples, 'worker_quiet_seconds', { worker: 'watch' })).toBe(70)
  expect(totalOf(samples, 'workers_failing', { worker: 'watch' })).toBe(1)
})

test('the process tells of itself', async () => {
  const { contentType, body } = await createMetrics({ clock: systemClock, log }).read()
  expect(contentType).toContain('text/plain')
  const samples = parseMetrics(body)
  expect(totalOf(samples, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
  expect(totalOf(samples, 'nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0)
})
