import { rm } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { createDataDir } from '../../support/data-dir.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { issueLimited } from '../../support/limited-key.ts'
import { parseMetrics, totalOf } from '../../support/metrics-text.ts'
import { checkWebhook, type Receiver, startReceiver } from '../../support/receiver.ts'
import { DEV_ADDRESSES, RECEIVER, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

type Notice = Schemas['AlertPayload']

const ENV = { METRICS_ENABLED: 'true', METRICS_PORT: '0' }
const ETH = 10n ** 18n
const WARN = 10n * ETH
const POLICIES = { warn_balance: String(WARN), rules: { limits: [{ per: 'hour', count: 5 }] } }

/** The time passes in such steps, in ms, so that no wait of the service is skipped. */
const STEP_MS = 5_000

let anvil: Anvil
let node: FaultyNode
let receiver: Receiver
let clock: AdjustableClock
let dataDir: string
let service: Service

beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver.stop())
beforeEach(async () => {
  anvil = await startAnvil()
  node = await startFaultyNode(anvil.url)
  clock = createAdjustableClock()
  dataDir = await createDataDir()
  receiver.behave(() => 204)
  await start()
})
afterEach(async () => {
  await service.stop()
  await node.stop()
  await anvil.stop()
  await rm(dataDir, { recursive: true })
})

async function start(policies: object = POLICIES): Promise<void> {
  service = await startService({
    rpcUrls: [node.url],
    clock,
    dataDir,
    policies,
    env: ENV,
    notificationUrl: receiver.url,
  })
}

const setBalance = (wei: bigint) => anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], `0x${wei.toString(16)}`])

async function events(): Promise<Schemas['Event'][]> {
  return (await service.api<Schemas['Event'][]>('GET', '/events?type=alert&limit=100')).body.data
}

async function notices(kind: Notice['alert']): Promise<Notice[]> {
  return (await events()).flatMap(({ payload }) =>
    payload.payload_type === 'alert' && payload.alert === kind ? payload : [],
  )
}

/** Lets the time pass until an alert has told of these states, in this order. */
async function tells(kind: Notice['alert'], ...states: Notice['state'][]): Promise<Notice> {
  const told = await until(
    async () => {
      clock.advance(STEP_MS)
      return notices(kind)
    },
    (seen) => seen.length >= states.length,
  )
  expect(told.map(({ state }) => state)).toEqual(states)
  const last = told.at(-1)
  if (last === undefined) throw new Error('nothing was told')
  return last
}

/** A check reads the balances of all accounts in one `eth_call`. */
const balanceReads = () => node.calls.get('eth_call') ?? 0

/** Lets this many checks of the balance pass. */
async function checks(count: number): Promise<void> {
  for (let check = 0; check < count; check += 1) {
    const before = balanceReads()
    await until(
      async () => {
        clock.advance(STEP_MS)
        return balanceReads()
      },
      (calls) => calls > before,
    )
  }
}

const firing = async () => (await service.api<Schemas['Alert'][]>('GET', '/alerts')).body.data

test('a low balance fires once and is over once, at other thresholds, and everyone concerned learns of it', async () => {
  const already = receiver.received.length
  await setBalance(WARN - 1n)
  const began = await tells('balance_low', 'firing')
  expect(began).toMatchObject({
    network: 'evm:anvil',
    relayer_id: 'main',
    value: String(WARN - 1n),
    threshold: String(WARN),
    message: `Relayer main can spend 9.999999999999999999 ETH; its warn_balance is 10 ETH. Send funds to ${DEV_ADDRESSES[0]}.`,
  })
  const { payload_type, ...shown } = began
  expect(await firing()).toEqual([shown])
  clock.advance(1_000)
  const metrics = parseMetrics(await (await fetch(service.metricsUrl ?? '')).text())
  expect(totalOf(metrics, 'relayer_alerts', { alert: 'balance_low' })).toBe(1)
  // Between the thresholds nothing is told, however often the balance changes.
  for (const balance of [WARN, (WARN * 11n) / 10n - 1n, WARN - 5n, WARN + 5n]) {
    await setBalance(balance)
    await checks(3)
  }
  expect(await notices('balance_low')).toHaveLength(1)
  await setBalance((WARN * 11n) / 10n)
  const ended = await tells('balance_low', 'firing', 'resolved')
  expect(ended).toMatchObject({ since: began.since, value: String((WARN * 11n) / 10n) })
  expect(await firing()).toEqual([])
  await setBalance(WARN)
  await checks(3)
  expect(await notices('balance_low')).toHaveLength(2)
  const arrived = await until(
    async () => receiver.received.slice(already).filter(({ body }) => body.event === 'alert'),
    (seen) => seen.length >= 2,
  )
  expect(arrived.map(({ text }) => checkWebhook(text))).toEqual([undefined, undefined])
  expect(arrived.map(({ body }) => body.id)).toEqual((await events()).map(({ id }) => id))
}, 60_000)

test('a restart repeats nothing, and the end of the policy is the end of the alert', async () => {
  await setBalance(WARN - 1n)
  await tells('balance_low', 'firing')
  await service.stop()
  await start()
  await checks(6)
  expect(await notices('balance_low')).toHaveLength(1)
  const { status } = await service.api('PATCH', '/relayers/main', {
    policies: { warn_balance: null, rules: null },
  })
  expect(status).toBe(200)
  const seen = await service.api<Schemas['Relayer']>('GET', '/relayers/main')
  // Null in a patch is the policy of the configuration file.
  expect(seen.body.data.policies).toMatchObject({ warn_balance: WARN })
  await service.stop()
  await start({})
  const ended = await tells('balance_low', 'firing', 'resolved')
  expect(ended.message).toBe('Relayer main no longer has a warn_balance, or was deleted.')
}, 60_000)

test('a disabled relayer fires until it is enabled', async () => {
  await setBalance(0n)
  const began = await tells('relayer_disabled', 'firing')
  expect(began.message).toContain('The account can spend 0 ETH; min_balance is 0.000000000000000001 ETH.')
  await setBalance(100n * ETH)
  const ended = await tells('relayer_disabled', 'firing', 'resolved')
  expect(ended.message).toBe('Relayer main was enabled again, or deleted.')
}, 60_000)

test('an endpoint fires after a minute without an answer, and what is unknown stays as it is', async () => {
  await setBalance(WARN - 1n)
  await tells('balance_low', 'firing')
  node.fault = () => 'drop'
  const began = await tells('endpoint_down', 'firing')
  expect(began).toMatchObject({ network: 'evm:anvil', endpoint: node.url })
  expect(began).not.toHaveProperty('relayer_id')
  expect(await notices('balance_low')).toHaveLength(1)
  node.fault = () => 'pass'
  await tells('endpoint_down', 'firing', 'resolved')
  expect(await notices('balance_low')).toHaveLength(1)
}, 60_000)

test('the budgets of a relayer and of an API key fire, and the latter are in the event log alone', async () => {
  const key = await issueLimited(service, { limits: [{ per: 'day', count: 6 }] })
  for (let count = 0; count < 5; count += 1)
    expect((await key.send({ to: RECEIVER, value: 1 })).status).toBe(200)
  const ofRelayer = await tells('budget_nearly_used', 'firing')
  expect(ofRelayer).toMatchObject({ relayer_id: 'main', value: '5', threshold: '5' })
  // The hour passes; the day does not.
  clock.advance(3_600_000)
  await tells('budget_nearly_used', 'firing', 'resolved')
  expect((await key.send({ to: RECEIVER, value: 1 })).status).toBe(200)
  const ofKey = await tells('budget_nearly_used', 'firing', 'resolved', 'firing')
  expect(ofKey).toMatchObject({ api_key_id: key.id, value: '6', threshold: '6' })
  expect(ofKey).not.toHaveProperty('relayer_id')
  // Other alerts may have been told since: the time passes.
  const ofKeys = (await events()).filter(({ payload }) => 'api_key_id' in payload).map(({ id }) => id)
  expect(ofKeys).toHaveLength(1)
  const { body } = await service.api<{ event_id: string }[]>(
    'GET',
    '/notifications/ops/deliveries?per_page=100',
  )
  expect(body.data.filter(({ event_id }) => ofKeys.includes(event_id))).toEqual([])
  await service.api('DELETE', `/api-keys/${key.id}`)
  const ended = await tells('budget_nearly_used', 'firing', 'resolved', 'firing', 'resolved')
  expect(ended.message).toBe('This limit was removed.')
}, 60_000)

test('dead letters fire until they have arrived', async () => {
  // After this answer there is no further try, and the notification is paused.
  receiver.behave(({ body }) => (body.event === 'notification_test' ? 410 : 204))
  await service.api('POST', '/notifications/ops/test')
  const began = await tells('delivery_dead', 'firing')
  expect(began).toMatchObject({ notification_id: 'ops', value: '1' })
  receiver.behave(() => 204)
  await service.api('POST', '/notifications/ops/resume')
  await service.api('POST', '/notifications/ops/redeliver', { status: 'dead' })
  await tells('delivery_dead', 'firing', 'resolved')
}, 60_000)

test('a stuck transaction fires until it is included', async () => {
  await anvil.rpc('evm_setAutomine', [false])
  const sent = await service.api('POST', '/relayers/main/transactions', { to: RECEIVER, value: 1 })
  const began = await until(
    async () => {
      clock.advance(60_000)
      return notices('transaction_stuck')
    },
    (seen) => seen.length > 0,
  )
  expect(began).toMatchObject([{ state: 'firing', relayer_id: 'main', transaction_id: sent.body.data.id }])
  await anvil.rpc('evm_mine')
  await tells('transaction_stuck', 'firing', 'resolved')
}, 60_000)

test('an API key of another relayer sees nothing of it', async () => {
  const body = { name: 'Narrow', scopes: ['events:read'], relayers: ['other'] }
  const issued = await service.api<{ secret: string }>('POST', '/api-keys', body)
  const authorization = `Bearer ${issued.body.data.secret}`
  await setBalance(WARN - 1n)
  await tells('balance_low', 'firing')
  for (const path of ['/alerts', '/events?type=alert']) {
    const seen = await service.api('GET', path, undefined, { authorization })
    expect({ status: seen.status, data: seen.body.data }).toEqual({ status: 200, data: [] })
  }
  const other = await service.api('GET', '/alerts?per_page=0')
  expect(other.body.pagination?.total_items).toBe(1)
}, 60_000)
