import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAnvil } from '../../support/anvil.ts'
import { parseMetrics, type Sample, totalOf } from '../../support/metrics-text.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Scenario, scenarioOf } from '../../support/scenario.ts'
import { API_KEY, NOWHERE, RECEIVER, type Story, startService } from '../../support/service.ts'
import { startSolanaScenario, transfer } from '../../support/solana-scenario.ts'
import { payment, startStellarScenario } from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

const METRICS = { METRICS_ENABLED: 'true', METRICS_PORT: '0' }

let receiver: Receiver
let story: Scenario

beforeAll(async () => {
  receiver = await startReceiver()
  const anvil = await startAnvil({ args: ['--no-mining'] })
  // No one is at the second endpoint, so some questions fail there and are asked again at the first.
  const rpcUrls = [anvil.url, NOWHERE]
  story = scenarioOf(anvil, await startService({ rpcUrls, notificationUrl: receiver.url, env: METRICS }))
}, 60_000)
afterAll(async () => {
  await story.stop()
  await receiver.stop()
})

async function scrape(url: string | undefined, headers: Record<string, string> = {}): Promise<Sample[]> {
  const response = await fetch(url ?? '', { headers })
  expect(response.status).toBe(200)
  return parseMetrics(await response.text())
}

/** Waits for a number that is right a moment after what it counts. */
function untilTotal(name: string, labels: Record<string, string>, wanted: number): Promise<Sample[]> {
  return until(
    () => scrape(story.service.metricsUrl),
    (samples) => totalOf(samples, name, labels) === wanted,
  )
}

/** The spendable balance of relayer `main` in the smallest unit. */
async function balanceOf({ service }: Story): Promise<bigint> {
  const { body } = await service.api<{ balance: number | bigint }>('GET', '/relayers/main/balance')
  return BigInt(body.data.balance)
}

test('a transaction is counted at each point of its life, and its time between them', async () => {
  const funds = await balanceOf(story)
  const { id } = await story.send({ to: RECEIVER, value: 1, speed: 'fast' })
  await story.reach(id, 'submitted')
  const before = await untilTotal('transactions_by_status', { status: 'submitted' }, 1)
  expect(totalOf(before, 'transactions_created_total')).toBe(1)
  expect(totalOf(before, 'transactions_submitted_total')).toBe(1)
  expect(totalOf(before, 'transactions_success_total')).toBeUndefined()
  expect(totalOf(before, 'transaction_fees_total')).toBeUndefined()
  expect(totalOf(before, 'oldest_open_transaction_age_seconds', { relayer_id: 'main' })).toBeLessThan(60)
  await story.settle()
  const after = await untilTotal('transactions_by_status', { status: 'confirmed' }, 1)
  const main = { relayer_id: 'main', network_type: 'evm' }
  expect(totalOf(after, 'transactions_success_total', main)).toBe(1)
  expect(totalOf(after, 'transactions_by_status', { status: 'submitted' })).toBeUndefined()
  expect(totalOf(after, 'oldest_open_transaction_age_seconds')).toBeUndefined()
  const spent = Number(funds - (await balanceOf(story)) - 1n) / 1e18
  expect(spent).toBeGreaterThan(0)
  expect(totalOf(after, 'transaction_fees_total', { ...main, network: 'anvil' })).toBeCloseTo(spent, 15)
  for (const stage of ['creation_to_submission', 'submission_to_confirmation', 'creation_to_confirmation']) {
    const labels = { network: 'anvil', network_type: 'evm', stage }
    expect(totalOf(after, 'transaction_processing_seconds_count', labels)).toBe(1)
  }
})

test('what a caller takes back counts as canceled', async () => {
  const { id } = await story.send({ to: RECEIVER, value: 2, speed: 'fast' })
  expect((await story.cancel(id)).status).toBe(200)
  await story.settle()
  await untilTotal('transactions_failed_total', { relayer_id: 'main', failure_reason: 'canceled' }, 1)
})

test('deliveries and the workers tell of themselves', async () => {
  await receiver.arrived(5)
  const samples = await untilTotal('events_relay_lag', {}, 0)
  expect(totalOf(samples, 'webhook_delivery_lag_seconds')).toBeUndefined()
  expect(totalOf(samples, 'webhook_deliveries_total', { outcome: 'delivered' })).toBeGreaterThanOrEqual(5)
  expect(totalOf(samples, 'leases_held', { kind: 'account' })).toBe(1)
  expect(totalOf(samples, 'leases_held', { kind: 'relay' })).toBe(1)
  for (const worker of ['submit', 'watch', 'deliver', 'housekeeping']) {
    expect(totalOf(samples, 'worker_quiet_seconds', { worker })).toBeLessThan(60)
    expect(totalOf(samples, 'workers_failing', { worker })).toBe(0)
  }
})

test('RPC calls are counted by network and method; every method of the chain has its name', async () => {
  const samples = await scrape(story.service.metricsUrl)
  const sent = { network: 'anvil', method: 'eth_sendRawTransaction' }
  expect(totalOf(samples, 'rpc_call_latency_seconds_count', sent)).toBeGreaterThanOrEqual(1)
  expect(totalOf(samples, 'api_rpc_failures_total', { error_type: 'down' })).toBeGreaterThanOrEqual(1)
  expect(totalOf(samples, 'rpc_call_latency_seconds_count', { method: 'other' })).toBeUndefined()
})

test('each relayer has its balance, and each endpoint tells if it answers', async () => {
  const samples = await scrape(story.service.metricsUrl)
  const whole = Number(await balanceOf(story)) / 1e18
  const labels = { relayer_id: 'main', network_type: 'evm', network: 'anvil' }
  expect(totalOf(samples, 'relayer_balance', labels)).toBeCloseTo(whole, 1)
  expect(totalOf(samples, 'relayer_balance', { ...labels, relayer_id: 'other' })).toBeGreaterThan(0)
  const up = (url: string) =>
    totalOf(samples, 'rpc_endpoint_up', { network: 'anvil', host: new URL(url).host })
  expect([up(story.anvil.url), up(NOWHERE)]).toEqual([1, 0])
})

test('no label holds an id of a transaction, a path or a URL', async () => {
  const { id } = await story.send({ to: RECEIVER, value: 3, speed: 'fast' })
  await fetch(`${story.service.url}/api/v1/relayers/main/transactions/${id}/nothing`)
  const text = await (await fetch(story.service.metricsUrl ?? '')).text()
  expect(text).not.toContain(id)
  const withoutHosts = text.replaceAll(/^rpc_endpoint_up.*$/gm, '')
  expect(withoutHosts).not.toMatch(/\/api\/|https?:|127\.0\.0\.1/)
  expect(text).not.toMatch(/https?:|\/hook/)
  await story.settle()
})

test('the main port shows the same to those who have the key', async () => {
  const { url } = story.service
  expect((await fetch(`${url}/metrics`)).status).toBe(401)
  const samples = await scrape(`${url}/metrics`, { authorization: `Bearer ${API_KEY}` })
  const sends = { endpoint: 'sendTransaction', method: 'POST', status: '200' }
  expect(totalOf(samples, 'requests_total', sends)).toBe(3)
  expect(totalOf(samples, 'request_latency_seconds_count', sends)).toBe(3)
})

test('every RPC method of Stellar has its name in the metrics', async () => {
  const stellar = await startStellarScenario({ env: METRICS })
  try {
    const funds = await balanceOf(stellar)
    const { id } = await stellar.send(payment(10n))
    await stellar.closeUntil(id, 'confirmed')
    await expectNamedMethods(stellar.service.metricsUrl, 'stellar')
    const spent = Number(funds - (await balanceOf(stellar)) - 10n) / 1e7
    await expectFees(stellar.service.metricsUrl, spent)
  } finally {
    await stellar.stop()
  }
})

test('every RPC method of Solana has its name in the metrics', async () => {
  const solana = await startSolanaScenario({ env: METRICS })
  try {
    const funds = await balanceOf(solana)
    const { id } = await solana.send(transfer(10n))
    await solana.tickUntil(id, 'confirmed')
    await expectNamedMethods(solana.service.metricsUrl, 'solana')
    const spent = Number(funds - (await balanceOf(solana)) - 10n) / 1e9
    await expectFees(solana.service.metricsUrl, spent)
  } finally {
    await solana.stop()
  }
})

async function expectFees(url: string | undefined, spent: number): Promise<void> {
  expect(spent).toBeGreaterThan(0)
  expect(totalOf(await scrape(url), 'transaction_fees_total', { relayer_id: 'main' })).toBeCloseTo(spent, 9)
}

async function expectNamedMethods(url: string | undefined, type: string): Promise<void> {
  const samples = await until(
    () => scrape(url),
    (seen) => totalOf(seen, 'transactions_success_total', { network_type: type }) === 1,
  )
  const methods = samples
    .filter(({ name }) => name === 'rpc_call_latency_seconds_count')
    .map(({ labels }) => labels.method)
  expect(methods.length).toBeGreaterThan(3)
  expect(methods).not.toContain('other')
}
