import { rm } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { FINAL_AFTER_BLOCKS_IF_OTHERS_SILENT } from '../../../src/chains/evm/broadcast/second-opinion.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { issueApprover } from '../../support/approver.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { createDataDir } from '../../support/data-dir.ts'
import { issueLimited, outcomeOf } from '../../support/limited-key.ts'
import { parseMetrics, totalOf } from '../../support/metrics-text.ts'
import { type Scenario, scenarioOf } from '../../support/scenario.ts'
import { RECEIVER, type Service, sendBatch, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** What waits is tried again within this time, in ms. */
const TRIED_AGAIN_MS = 60_000
const ETHER = 10n ** 18n
/** Init code that reverts. */
const REVERTS = '0x60006000fd'

let anvil: Anvil
let clock: AdjustableClock
let dataDir: string
let service: Service
let story: Scenario

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  clock = createAdjustableClock()
  dataDir = await createDataDir()
  await start()
}, 120_000)
afterEach(() => story.settle())
afterAll(async () => {
  await service.stop()
  await anvil.stop()
  await rm(dataDir, { recursive: true })
})

async function start() {
  const env = { METRICS_ENABLED: 'true', METRICS_PORT: '0' }
  service = await startService({ rpcUrls: [anvil.url], clock, dataDir, env })
  story = scenarioOf(anvil, service)
}

const inMs = (ms: number) => new Date(clock.now() + ms).toISOString()
const pay = (change: object = {}) => ({ to: RECEIVER, value: '1', speed: 'fast', ...change })

/** A later transaction that is signed shows that the worker had the chance to sign the earlier one. */
async function overtake(): Promise<bigint | number> {
  const { id } = await story.send(pay())
  const { nonce } = await story.reach(id, 'submitted')
  return nonce ?? -1
}

async function diagnosis(id: string): Promise<Schemas['Diagnosis']> {
  const path = `/relayers/main/transactions/${id}/diagnosis`
  return (await service.api<Schemas['Diagnosis']>('GET', path)).body.data
}

describe('a transaction with a valid_from', () => {
  test('waits without a nonce while others overtake it, and is sent when its time comes', async () => {
    const valid_from = inMs(HOUR_MS)
    const answer = await story.post(pay({ valid_from, value: '7' }))
    expect([answer.status, answer.body.data.valid_from]).toEqual([200, valid_from])
    expect(answer.body.metadata?.logs[0]?.message).toBe(
      `It waits until ${valid_from}; nothing is signed or reserved before.`,
    )
    const { id } = answer.body.data
    const overtaking = await overtake()
    const waiting = await story.get(id)
    expect(waiting).toMatchObject({ status: 'pending', attempts: [] })
    expect(waiting.nonce).toBeUndefined()
    expect(await diagnosis(id)).toMatchObject({
      findings: [{ code: 'scheduled', message: expect.stringContaining(valid_from) }],
      next_action: { action: 'sign', at: valid_from },
    })
    clock.advance(HOUR_MS)
    const sent = await story.reach(id, 'submitted')
    expect(BigInt(sent.nonce ?? -1)).toBe(BigInt(overtaking) + 1n)
    await story.settle()
    expect(await story.get(id)).toMatchObject({ status: 'confirmed', value: '7', valid_from })
  })

  test('is the same one when it is sent twice with one idempotency key', async () => {
    const body = pay({ valid_from: inMs(HOUR_MS) })
    const send = () =>
      service.api<{ id: string }>('POST', '/relayers/main/transactions', body, { 'Idempotency-Key': 'later' })
    const [first, second] = [await send(), await send()]
    expect(second.body.data.id).toBe(first.body.data.id)
    expect((await story.cancel(first.body.data.id)).status).toBe(200)
  })

  test('reserves nothing, so neither the balance nor others are held up by it', async () => {
    const all = 10_000n * ETHER
    const rich = await story.send(pay({ valid_from: inMs(HOUR_MS), value: String(2n * all) }))
    const also = await story.send(pay({ valid_from: inMs(HOUR_MS), value: String(all / 2n) }))
    const now = await story.send(pay({ value: String(all / 2n) }))
    await story.reach(now.id, 'submitted')
    for (const { id } of [rich, also]) expect((await story.cancel(id)).body.data.status).toBe('canceled')
  })

  test('is canceled immediately, without a signature', async () => {
    const { id } = await story.send(pay({ valid_from: inMs(HOUR_MS) }))
    const canceled = await story.cancel(id)
    expect(canceled.body.data).toMatchObject({
      status: 'canceled',
      status_reason: 'Canceled by the caller before anything was signed.',
      attempts: [],
    })
    clock.advance(HOUR_MS)
    await overtake()
    expect((await story.get(id)).attempts).toEqual([])
  })

  test('that would revert now is accepted, and ends with the reason when its time comes', async () => {
    const body = { value: '0', data: REVERTS, valid_from: inMs(HOUR_MS) }
    const dry = await service.api<Schemas['DryRun']>('POST', '/relayers/main/transactions?dry_run=true', body)
    expect(dry.body.data).toMatchObject({ accepted: true, simulation: 'unknown' })
    const { id } = await story.send(body)
    clock.advance(HOUR_MS)
    // An endpoint that is alone has to come some blocks further before its refusal is final. Many more would be another occasion.
    await until(
      () => story.get(id),
      ({ status_reason }) => status_reason?.startsWith('Waiting for another endpoint') === true,
    )
    await story.mine(Number(FINAL_AFTER_BLOCKS_IF_OTHERS_SILENT))
    clock.advance(TRIED_AGAIN_MS)
    const failed = await story.reach(id, 'failed')
    expect(failed).toMatchObject({
      attempts: [],
      status_reason: expect.stringContaining('would revert'),
    })
  })

  test('expires when nothing was signed between valid_from and valid_until', async () => {
    const { id } = await story.send(pay({ valid_from: inMs(HOUR_MS), valid_until: inMs(2 * HOUR_MS) }))
    clock.advance(3 * HOUR_MS)
    expect(await story.reach(id, 'expired')).toMatchObject({ attempts: [] })
  })

  test('that has passed has no effect', async () => {
    const { id } = await story.send(pay({ valid_from: inMs(-HOUR_MS) }))
    await story.reach(id, 'submitted')
  })
})

describe('a request', () => {
  test.each([
    ['more than 30 days ahead', () => ({ valid_from: inMs(30 * DAY_MS + 60_000) }), 'valid_from: at most 30'],
    [
      'with an end at its beginning',
      () => ({ valid_from: inMs(HOUR_MS), valid_until: inMs(HOUR_MS / 2) }),
      'valid_until: a time after valid_from',
    ],
    ['with a time that is none', () => ({ valid_from: 'tomorrow' }), 'body.valid_from: '],
  ])('%s is refused', async (_name, times, error) => {
    const answer = await story.post(pay(times()))
    expect([outcomeOf(answer), answer.body.error?.includes(error)]).toEqual(['400 invalid_request', true])
  })

  test('in a batch waits like a single one', async () => {
    const items = [pay({ valid_from: inMs(HOUR_MS) }), pay()]
    const { body } = await sendBatch(service, items)
    const [later, now] = body.data.map(({ id }) => id)
    await story.reach(now ?? '', 'submitted')
    expect(await story.get(later ?? '')).toMatchObject({ status: 'pending', attempts: [] })
    clock.advance(HOUR_MS)
    await story.reach(later ?? '', 'submitted')
  })

  test('takes from a budget when it is accepted, and gives it back when it is canceled', async () => {
    const key = await issueLimited(service, { limits: [{ per: 'day', value: '10' }] })
    const sent = await key.send(pay({ valid_from: inMs(HOUR_MS), value: '8' }))
    expect(outcomeOf(sent)).toBe('200')
    expect(outcomeOf(await key.send(pay({ value: '3' })))).toBe('400 rule_violated')
    await story.cancel(sent.body.data.id)
    await until(
      () => key.usage(),
      ({ limits: [limit] }) => limit?.value?.spent === '0',
    )
  })

  test('that also needs an approval is not signed before its time when it is approved', async () => {
    const approver = await issueApprover(service)
    const key = await issueLimited(service, { require_approval: {} })
    const { body } = await key.send(pay({ valid_from: inMs(HOUR_MS) }))
    expect(outcomeOf(await approver.decide(body.data.id, 'approve'))).toBe('200')
    await overtake()
    expect((await story.get(body.data.id)).attempts).toEqual([])
    clock.advance(HOUR_MS)
    await story.reach(body.data.id, 'submitted')
  })
})

describe('a replacement', () => {
  test('gives a waiting transaction another time, or none', async () => {
    const { id } = await story.send(pay({ valid_from: inMs(HOUR_MS) }))
    const later = inMs(2 * HOUR_MS)
    const put = await story.replace(id, pay({ valid_from: later, value: '2' }))
    expect(put.body.data).toMatchObject({ status: 'pending', value: '2', valid_from: later })
    clock.advance(HOUR_MS)
    await overtake()
    expect((await story.get(id)).attempts).toEqual([])
    expect((await story.replace(id, pay({ value: '3' }))).status).toBe(200)
    const sent = await story.reach(id, 'submitted')
    expect([sent.valid_from, sent.value]).toEqual([undefined, '3'])
  })

  test('cannot make a transaction wait that has a nonce', async () => {
    const { id } = await story.send(pay())
    await story.reach(id, 'submitted')
    const put = await story.replace(id, pay({ valid_from: inMs(HOUR_MS) }))
    expect([outcomeOf(put), put.body.error]).toEqual([
      '400 invalid_request',
      'valid_from: not expected here, because the transaction already has a nonce or signed bytes and can no longer wait; omit it.',
    ])
  })
})

describe('the service', () => {
  test('counts what waits for its time in no age, however long ago it was accepted', async () => {
    const ageOf = async () => {
      const text = await (await fetch(service.metricsUrl ?? '')).text()
      return totalOf(parseMetrics(text), 'oldest_open_transaction_age_seconds', { relayer_id: 'main' })
    }
    const { id } = await story.send(pay({ valid_from: inMs(DAY_MS) }))
    clock.advance(DAY_MS - HOUR_MS)
    expect(await ageOf()).toBeUndefined()
    clock.advance(HOUR_MS)
    await story.reach(id, 'submitted')
    expect(await ageOf()).toBeLessThan(600)
  })

  test('that was restarted sends it once, at its time', async () => {
    const { id } = await story.send(pay({ valid_from: inMs(HOUR_MS) }))
    await service.stop()
    await start()
    await overtake()
    expect((await story.get(id)).attempts).toEqual([])
    await service.stop()
    clock.advance(HOUR_MS)
    await start()
    await story.settle()
    const { attempts, status } = await story.get(id)
    expect([status, attempts.length]).toEqual(['confirmed', 1])
  })

  test.each([
    ['back', -2 * HOUR_MS],
    ['ahead', HOUR_MS / 2],
  ])('whose clock steps %s and back again neither loses it nor sends it early', async (_name, step) => {
    const { id } = await story.send(pay({ valid_from: inMs(HOUR_MS) }))
    clock.step(step)
    await overtake()
    expect((await story.get(id)).attempts).toEqual([])
    clock.step(-step)
    clock.advance(HOUR_MS)
    await story.reach(id, 'submitted')
    // What is signed does not wait again.
    clock.step(-2 * HOUR_MS)
    await story.settle()
    clock.step(2 * HOUR_MS)
    expect((await story.get(id)).status).toBe('confirmed')
  })
})
