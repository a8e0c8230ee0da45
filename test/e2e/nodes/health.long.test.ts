import { rm } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { createLogger } from '../../../src/log.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { createDataDir } from '../../support/data-dir.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { parseMetrics, totalOf } from '../../support/metrics-text.ts'
import { checkWebhook, type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Scenario, scenarioOf } from '../../support/scenario.ts'
import {
  DEV_ADDRESSES,
  RECEIVER,
  type Service,
  type ServiceOptions,
  startService,
  type Transaction,
} from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** How far the time moves between two looks at a relayer, in ms. */
const STEP_MS = 5_000

const RICH = `0x${(10n ** 22n).toString(16)}`
const ENV = { METRICS_ENABLED: 'true', METRICS_PORT: '0', RELAYER_MAX_IN_FLIGHT: '2' }

let anvil: Anvil
let receiver: Receiver
let node: FaultyNode
/** What stands behind the url of the network when `node` is told to use it. */
let standIn: Anvil | undefined
let clock: AdjustableClock
let service: Service
let story: Scenario

beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver.stop())

beforeEach(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  standIn = undefined
  node = await startFaultyNode(anvil.url, { replica: () => standIn?.url ?? '' })
  clock = createAdjustableClock()
  service = await startService({ rpcUrls: [node.url], clock, env: ENV, notificationUrl: receiver.url })
  story = scenarioOf(anvil, service)
})
afterEach(async () => {
  await story.stop()
  await node.stop()
  await standIn?.stop()
})

/** Another service on the same chain. */
async function restart(options: Partial<ServiceOptions>, meanwhile = async () => {}): Promise<void> {
  await service.stop()
  await meanwhile()
  service = await startService({ rpcUrls: [node.url], clock, notificationUrl: receiver.url, ...options })
  story = scenarioOf(anvil, service)
}

type Relayer = Schemas['Relayer']

async function relayer(id = 'main'): Promise<Relayer> {
  const { body } = await service.api<Relayer[]>('GET', '/relayers')
  const found = body.data.find((one) => one.id === id)
  if (found === undefined) throw new Error(`there is no relayer ${id}`)
  return found
}

/** Lets the time pass until the relayer is as wanted. */
function becomes(wanted: (relayer: Relayer) => boolean, id?: string): Promise<Relayer> {
  return until(async () => {
    clock.advance(STEP_MS)
    return relayer(id)
  }, wanted)
}
const disabled = (type: string, id?: string) =>
  becomes(({ disabled_reason }) => disabled_reason?.type === type, id)
const enabled = () => becomes(({ system_disabled }) => !system_disabled)

/** Lets this many checks of an enabled relayer pass, to which no one answers. */
async function silentChecks(count: number): Promise<void> {
  for (let check = 0; check < count; check += 1) {
    const before = node.calls.get('eth_chainId') ?? 0
    await until(
      async () => {
        clock.advance(1_000)
        return node.calls.get('eth_chainId') ?? 0
      },
      (calls) => calls > before,
    )
  }
}

type Ready = Schemas['Readiness']
async function ready(): Promise<{ status: number; body: Ready }> {
  clock.advance(2_000)
  const response = await fetch(`${service.url}/api/v1/ready`)
  return { status: response.status, body: (await response.json()) as Ready }
}

/** The states that events told of, oldest first. */
async function toldStates(): Promise<Schemas['EventPayload'][]> {
  const { body } = await service.api<Schemas['Event'][]>('GET', '/events?type=relayer_state_update&limit=100')
  return body.data.map(({ payload }) => payload)
}

describe('the balance', () => {
  const setBalance = (wei: string) => anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], wei])

  test('disables a relayer below min_balance and restores it after a top-up, and everything tells so', async () => {
    expect((await ready()).body.components.relayers).toEqual({ status: 'healthy' })
    const already = receiver.received.length
    await setBalance('0x0')
    const off = await disabled('BalanceCheckFailed')
    expect(off).toMatchObject({
      system_disabled: true,
      disabled_reason: { details: 'The account can spend 0 wei; min_balance is 1.' },
    })
    for (const [path, body] of [
      ['/transactions', { to: RECEIVER, value: 1 }],
      ['/sign', { message: 'hello' }],
    ] as const) {
      const answer = await service.api('POST', `/relayers/main${path}`, body)
      expect({ status: answer.status, code: answer.body.code, error: answer.body.error }).toEqual({
        status: 400,
        code: 'relayer_disabled',
        error: 'Relayer main was disabled by the service. The account can spend 0 wei; min_balance is 1.',
      })
    }
    const answer = await ready()
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ ready: true, status: 'degraded', reason: 'Not healthy: relayers.' })
    expect(answer.body.components.relayers).toEqual({
      status: 'degraded',
      error: '1 of 2 relayers is disabled: 1 BalanceCheckFailed.',
    })
    clock.advance(1_000)
    const metrics = parseMetrics(await (await fetch(service.metricsUrl ?? '')).text())
    expect(totalOf(metrics, 'relayers_disabled', { reason: 'BalanceCheckFailed' })).toBe(1)
    expect((await relayer('other')).system_disabled).toBe(false)

    await setBalance(RICH)
    expect(await enabled()).not.toHaveProperty('disabled_reason')
    expect((await ready()).body.components.relayers).toEqual({ status: 'healthy' })
    expect((await service.api('POST', '/relayers/main/sign', { message: 'hello' })).status).toBe(200)
    const states = await toldStates()
    expect(states).toMatchObject([
      { payload_type: 'relayer_disabled', disable_reason: off.disabled_reason, relayer: { id: 'main' } },
      { payload_type: 'relayer_enabled', relayer: { id: 'main', system_disabled: false } },
    ])
    const [, told] = states
    expect(told?.payload_type === 'relayer_enabled' && told.retry_count).toBeGreaterThanOrEqual(1)
    const deliveries = await until(
      async () =>
        receiver.received.slice(already).filter(({ body }) => body.payload.payload_type !== 'alert'),
      ({ length }) => length >= states.length,
    )
    expect(deliveries.map(({ text }) => checkWebhook(text))).toEqual([undefined, undefined])
    expect(deliveries.map(({ body }) => body.payload.payload_type)).toEqual(
      states.map(({ payload_type }) => payload_type),
    )
  })

  test('that changes while it is too low appears in the relayer and in no further event', async () => {
    await setBalance('0x4')
    await restart({ policies: { min_balance: 5 } })
    await disabled('BalanceCheckFailed')
    await setBalance('0x3')
    const { disabled_reason } = await becomes(
      ({ disabled_reason }) => !disabled_reason?.details.includes('4'),
    )
    expect(disabled_reason?.details).toBe('The account can spend 3 wei; min_balance is 5.')
    expect(await toldStates()).toMatchObject([
      { disable_reason: { details: expect.stringContaining('4 wei') } },
    ])
  })

  test('of a paused relayer is looked at, too', async () => {
    await setBalance('0x0')
    await restart({
      relayers: [
        { id: 'main', name: 'M', signer_id: 'dev-0', network: 'anvil', network_type: 'evm', paused: true },
      ],
    })
    expect(await disabled('BalanceCheckFailed')).toMatchObject({ paused: true })
  })
})

describe('the nodes', () => {
  test('that are silent for two checks switch nothing off, and requests are accepted', async () => {
    await story.settle()
    await until(
      async () => node.calls.get('eth_chainId') ?? 0,
      (calls) => calls >= 2,
    )
    node.fault = () => 'drop'
    await silentChecks(2)
    expect((await relayer()).system_disabled).toBe(false)
    const sent = await service.api('POST', '/relayers/main/transactions', {
      to: RECEIVER,
      value: 1,
      gas_limit: 21_000,
    })
    expect(sent.status).toBe(200)
    node.fault = () => 'pass'
    await story.settle()
    expect(await story.get(sent.body.data.id)).toMatchObject({ status: 'confirmed' })
    expect(await toldStates()).toEqual([])
  })

  test('of another chain behind the same url disable the relayer at the first look', async () => {
    standIn = await startAnvil({ args: ['--chain-id', '31338'] })
    node.fault = () => ({ kind: 'lag', blocks: 1 })
    const { disabled_reason } = await disabled('RpcValidationFailed')
    expect(disabled_reason?.details).toBe(
      'network anvil: chain_id 31337 is configured, but its endpoint serves chain 31338.',
    )
    await disabled('RpcValidationFailed', 'other')
    expect((await ready()).body.components.relayers.error).toBe(
      '2 of 2 relayers are disabled: 2 RpcValidationFailed.',
    )
    node.fault = () => 'pass'
    await enabled()
  })

  test('of a chain that was reset to the same first block disable the relayer, whose nonces were used', async () => {
    const { id } = await story.send({ to: RECEIVER, value: 1 })
    await story.settle()
    expect((await story.get(id)).status).toBe('confirmed')
    const first = await anvil.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['0x0', false])
    standIn = await startAnvil({ args: ['--no-mining', '--timestamp', String(Number(first.timestamp))] })
    node.fault = () => ({ kind: 'lag', blocks: 1 })
    const { disabled_reason } = await disabled('NonceSyncFailed')
    expect(disabled_reason?.details).toBe(
      `${DEV_ADDRESSES[0]} has nonce 0 next on network anvil, but nonce 0 of it is confirmed: the chain was reset, or it is another one. Nothing is signed for it. To end its open transactions and start over: relayer reset anvil, or POST /api/v1/networks/evm:anvil/reset.`,
    )
    // Nothing of the other account was ever confirmed: it can begin again.
    expect((await relayer('other')).system_disabled).toBe(false)
    node.fault = () => 'pass'
    await enabled()
  })
})

test('a wrong chain behind urls of a caller stops no start: the relayer is disabled', async () => {
  const dataDir = await createDataDir()
  onTestFinished(() => rm(dataDir, { recursive: true }))
  await restart({ dataDir })
  const other = await startAnvil({ args: ['--chain-id', '31338'] })
  standIn = other
  await restart({ dataDir }, async () => {
    const { db, close } = await openDatabase({ dataDir }, createLogger({ level: 'silent' }))
    const urls = JSON.stringify([{ url: other.url, weight: 100, untrusted: true }])
    await db.updateTable('relayers').set({ custom_rpc_urls: urls }).where('id', '=', 'main').execute()
    await close()
  })
  await disabled('RpcValidationFailed')
  expect((await relayer('other')).system_disabled).toBe(false)
})

test('an outage with transactions on their way disables the relayer, and each is confirmed once after it', async () => {
  const amounts = [1_000, 1_001, 1_002, 1_003, 1_004]
  const before = BigInt(await anvil.rpc<string>('eth_getBalance', [RECEIVER, 'latest']))
  const sent: Transaction[] = []
  for (const value of amounts) sent.push(await story.send({ to: RECEIVER, value, speed: 'fast' }))
  const [first, second, third] = sent.map(({ id }) => id)
  await story.reach(first ?? '', 'submitted')
  await story.reach(second ?? '', 'submitted')
  const state = await anvil.rpc<string>('anvil_dumpState')
  await anvil.stop()
  const off = await disabled('RpcValidationFailed')
  expect(off.disabled_reason?.details).toMatch(
    /^No endpoint of network anvil \(127\.0\.0\.1:\d+\) has answered since \d{4}-/,
  )
  const { body } = await service.api<Schemas['Diagnosis']>(
    'GET',
    `/relayers/main/transactions/${third}/diagnosis`,
  )
  expect(body.data.findings.find(({ code }) => code === 'relayer_disabled')?.message).toBe(
    `The service has disabled relayer main. ${off.disabled_reason?.details}`,
  )
  const during = await Promise.all(sent.map(({ id }) => story.get(id)))
  expect(during.map(({ status }) => status)).toEqual([
    'submitted',
    'submitted',
    'pending',
    'pending',
    'pending',
  ])

  // The chain comes back with its state and without its pool.
  const back = await startAnvil({ args: ['--no-mining'] })
  await back.rpc('anvil_loadState', [state])
  standIn = back
  node.fault = () => ({ kind: 'lag', blocks: 1 })
  await enabled()
  const after = scenarioOf(back, service)
  await until(
    async () => {
      clock.advance(1_000)
      await after.mine()
      return Promise.all(sent.map(({ id }) => after.get(id)))
    },
    (all) => all.every(({ status }) => status === 'confirmed'),
  )
  const finals = await Promise.all(sent.map(({ id }) => after.get(id)))
  expect(finals.map(({ nonce }) => Number(nonce)).sort()).toEqual([0, 1, 2, 3, 4])
  for (const { nonce, hash } of finals)
    expect(await after.minedHash(DEV_ADDRESSES[0], nonce ?? -1)).toBe(hash)
  const paid = BigInt(await back.rpc<string>('eth_getBalance', [RECEIVER, 'latest'])) - before
  expect(paid).toBe(BigInt(amounts.reduce((sum, value) => sum + value)))
  expect(BigInt(await back.rpc<string>('eth_getTransactionCount', [DEV_ADDRESSES[0], 'latest']))).toBe(5n)
}, 60_000)
