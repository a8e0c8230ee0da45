import { Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/time.ts'
import { createLogger } from '../../src/log.ts'
import { createMetrics, createRequestMetrics } from '../../src/metrics/metrics.ts'
import { createRpcMetrics } from '../../src/metrics/rpc-metrics.ts'
import { createBoundedLabel, createLabels } from '../../src/metrics/series.ts'
import type { StateSource, StoredState } from '../../src/metrics/state.ts'
import { createTestClock } from '../support/clock.ts'
import { parseMetrics, type Sample, totalOf } from '../support/metrics-text.ts'

const log = createLogger({ level: 'silent' })

const NOTHING: StoredState = {
  transactions: [],
  oldestWaiting: new Map(),
  deadLetters: new Map(),
  disabledRelayers: new Map(),
  alerts: new Map(),
  leases: new Map(),
}

/** A source that knows nothing but what is given. */
const sourceOf = (parts: Partial<StateSource>): StateSource => ({
  workers: () => [],
  readings: () => [],
  endpoints: () => [],
  heads: () => [],
  stored: async () => NOTHING,
  ...parts,
})

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
  const observer = createRpcMetrics(registry, createLabels())('sepolia')
  observer.asked({
    host: 'node.example',
    methods: ['eth_call', 'eth_call', 'eth_blockNumber', 'debug_1', 'debug_2'],
    seconds: 0.2,
  })
  observer.asked({ host: 'node.example', methods: ['eth_call'], seconds: 10, failure: 'slow' })
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
    alerts: new Map([['balance_low', 4]]),
    leases: new Map([['account', 3]]),
  }
  metrics.watch(sourceOf({ stored: async () => state }))
  const first = parseMetrics((await metrics.read()).body)
  const series = first.filter(({ name }) => name === 'transactions_by_status')
  expect(series).toHaveLength(101)
  expect(totalOf(first, 'transactions_by_status', { relayer_id: 'other' })).toBe(60)
  expect(totalOf(first, 'events_relay_lag')).toBe(7)
  expect(totalOf(first, 'leases_held', { kind: 'account' })).toBe(3)
  expect(totalOf(first, 'relayer_alerts', { alert: 'balance_low' })).toBe(4)
  expect(totalOf(first, 'relayers_disabled', { reason: 'BalanceCheckFailed' })).toBe(2)

  state = NOTHING
  clock.advance(3_000)
  const then = parseMetrics((await metrics.read()).body)
  for (const name of [
    'transactions_by_status',
    'events_relay_lag',
    'leases_held',
    'relayers_disabled',
    'relayer_alerts',
  ])
    expect(totalOf(then, name)).toBeUndefined()
})

test('the database is asked at most once in three seconds, however many look', async () => {
  const clock = createTestClock()
  const metrics = createMetrics({ clock, log })
  let asked = 0
  metrics.watch(
    sourceOf({
      stored: async () => {
        asked += 1
        return NOTHING
      },
    }),
  )
  await Promise.all([metrics.read(), metrics.read(), metrics.read()])
  clock.advance(2_999)
  await metrics.read()
  expect(asked).toBe(1)
  clock.advance(1)
  await metrics.read()
  expect(asked).toBe(2)
})

test.each([
  ['fails', async () => Promise.reject(new Error('gone'))],
  ['hangs', () => new Promise<StoredState>(() => {})],
])('a database that %s takes nothing away but what it alone knows', async (_how, broken) => {
  const clock = createTestClock()
  const metrics = createMetrics({ clock, log })
  metrics.watch(
    sourceOf({
      workers: () => [
        { name: 'watch sepolia', quietMs: 500 },
        { name: 'watch mainnet', quietMs: 70_000, error: 'the node said so' },
      ],
      readings: () => [{ relayerId: 'main', network: 'sepolia', networkType: 'evm', balance: 1.5 }],
      stored: broken,
    }),
  )
  const reading = metrics.read()
  clock.advance(3_000)
  const samples = parseMetrics((await reading).body)
  expect(totalOf(samples, 'database_answers')).toBe(0)
  expect(totalOf(samples, 'transactions_by_status')).toBeUndefined()
  expect(totalOf(samples, 'relayer_balance', { relayer_id: 'main' })).toBe(1.5)
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

describe('values to alert on', () => {
  const RELAYER = { relayer_id: 'main', network_type: 'evm' }

  /** What a scraper reads of this source. */
  async function read(parts: Partial<StateSource>, clock = createTestClock()): Promise<Sample[]> {
    const metrics = createMetrics({ clock, log })
    metrics.watch(sourceOf(parts))
    return parseMetrics((await metrics.read()).body)
  }

  test('balance and nonce gap are those of the last check; what it did not learn is absent', async () => {
    const of = (relayerId: string) => ({ relayerId, network: 'sepolia', networkType: 'evm' as const })
    const samples = await read({
      readings: () => [{ ...of('main'), balance: 0.25, nonceGap: -2 }, of('silent')],
    })
    const labels = { ...RELAYER, network: 'sepolia' }
    expect(samples.filter(({ name }) => name.startsWith('relayer_'))).toEqual([
      { name: 'relayer_balance', labels, value: 0.25 },
      { name: 'relayer_nonce_gap', labels, value: -2 },
    ])
  })

  test('of the relayers beyond the limit, other has the lowest balance and the widest gap', async () => {
    const readings = Array.from({ length: 5_000 }, (_, index) => ({
      relayerId: `r-${index}`,
      network: 'sepolia',
      networkType: 'evm' as const,
      balance: index === 3_000 ? 0.5 : 7,
      nonceGap: index === 4_000 ? -9 : index === 4_001 ? 8 : 0,
    }))
    const samples = await read({ readings: () => readings })
    expect(samples.filter(({ name }) => name === 'relayer_balance')).toHaveLength(101)
    expect(totalOf(samples, 'relayer_balance', { relayer_id: 'other' })).toBe(0.5)
    expect(totalOf(samples, 'relayer_nonce_gap', { relayer_id: 'other' })).toBe(-9)
  })

  test('the oldest open transaction is the oldest that no block includes', async () => {
    const clock = createTestClock()
    const since = (seconds: number) => new Date(clock.now() - seconds * 1000)
    const of = (status: string, seconds?: number) => ({
      relayerId: 'main',
      networkType: 'evm',
      status,
      count: 1,
      ...(seconds !== undefined && { oldestAt: since(seconds) }),
    })
    const transactions = [of('pending', 5), of('submitted', 90), of('mined', 500), of('confirmed')]
    const samples = await read({ stored: async () => ({ ...NOTHING, transactions }) }, clock)
    expect(samples.filter(({ name }) => name === 'oldest_open_transaction_age_seconds')).toEqual([
      { name: 'oldest_open_transaction_age_seconds', labels: RELAYER, value: 90 },
    ])
  })

  test('the delivery lag is the age of the oldest event that waits, by notification', async () => {
    const clock = createTestClock()
    const oldestWaiting = new Map([['ops', new Date(clock.now() - 45_500)]])
    const samples = await read({ stored: async () => ({ ...NOTHING, oldestWaiting }) }, clock)
    expect(totalOf(samples, 'webhook_delivery_lag_seconds', { notification_id: 'ops' })).toBe(45.5)
  })

  test('an endpoint is down when one of the urls with its host is', async () => {
    const of = (host: string, up: boolean) => ({ network: 'sepolia', host, up, isPrivate: false })
    const many = Array.from({ length: 200 }, (_, index) => of(`node-${index}.example`, true))
    const samples = await read({
      endpoints: () => [of('a.example', true), of('b.example', true), of('b.example', false), ...many],
    })
    const up = (host: string) => totalOf(samples, 'rpc_endpoint_up', { network: 'sepolia', host })
    expect(['a.example', 'b.example', 'other', 'node-150.example'].map(up)).toEqual([1, 0, 1, undefined])
  })

  test('a head has its age, and the age that is too much where that can be said', async () => {
    const samples = await read({
      heads: () => [
        { network: 'sepolia', ageSeconds: 7.5, limitSeconds: 240 },
        { network: 'anvil', ageSeconds: 3_600, limitSeconds: undefined },
      ],
    })
    const of = (name: string) =>
      ['sepolia', 'anvil'].map((network) => totalOf(samples, `chain_head_${name}_seconds`, { network }))
    expect([of('age'), of('limit')]).toEqual([
      [7.5, 3_600],
      [240, undefined],
    ])
  })

  test('a private endpoint has a gauge of its own, so that it never counts as one that can be read', async () => {
    const of = (host: string, isPrivate: boolean) => ({ network: 'sepolia', host, up: !isPrivate, isPrivate })
    const samples = await read({ endpoints: () => [of('a.example', false), of('b.example', true)] })
    const labels = (host: string) => ({ network: 'sepolia', host })
    const up = (name: string) =>
      ['a.example', 'b.example'].map((host) => totalOf(samples, name, labels(host)))
    expect(up('rpc_endpoint_up')).toEqual([1, undefined])
    expect(up('private_rpc_endpoint_up')).toEqual([undefined, 0])
  })
})

test('names follow the conventions of Prometheus', async () => {
  const metrics = createMetrics({ clock: systemClock, log })
  const { body } = await metrics.read()
  const types = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
  }))
  expect(types.length).toBeGreaterThan(40)
  // The rules of `promtool check metrics`.
  expect(types.filter(({ name, type }) => name.endsWith('_total') !== (type === 'counter'))).toEqual([])
  expect(
    types.filter(({ name }) =>
      /[A-Z]|_(ms|millis|milliseconds|minutes|count|gauge|histogram)(_|$)/.test(name),
    ),
  ).toEqual([])
  const helps = new Set([...body.matchAll(/^# HELP (\S+) \S/gm)].map(([, name]) => name))
  expect(types.filter(({ name }) => !helps.has(name))).toEqual([])
})
