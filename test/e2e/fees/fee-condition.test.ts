import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { PRICE_WAIT_MS } from '../../../src/transactions/model/due.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { schedulesOf } from '../../support/schedules.ts'
import { RECEIVER } from '../../support/service.ts'

const GWEI = 1_000_000_000n
const WAITING =
  /^Waiting for a lower fee: it is sent when the network's fee is at most 5000000000 wei per gas, and it is \d+ now\./

let clock: AdjustableClock
let story: Scenario

beforeAll(async () => {
  clock = createAdjustableClock()
  story = await startScenario({ clock })
})
afterAll(() => story.stop())

/** The base fee of the next block. */
async function setBaseFee(wei: bigint) {
  await story.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${wei.toString(16)}`])
  await story.mine()
  clock.advance(3_000)
}

const inAnHour = () => new Date(clock.now() + 3_600_000).toISOString()
const cheap = (change: object = {}) => ({
  to: RECEIVER,
  value: '1',
  speed: 'fast',
  valid_until: inAnHour(),
  when: { fee_at_most: String(5n * GWEI) },
  ...change,
})

async function diagnose(id: string) {
  const path = `/relayers/main/transactions/${id}/diagnosis`
  return (await story.service.api<Schemas['Diagnosis']>('GET', path)).body.data
}

describe('a transaction that waits for a low fee', () => {
  test('says so, has no nonce, is overtaken, and is signed when the fee is low', async () => {
    await setBaseFee(50n * GWEI)
    const dry = await story.service.api<Schemas['DryRun']>(
      'POST',
      '/relayers/main/transactions?dry_run=true',
      cheap(),
    )
    expect(dry.body).toMatchObject({
      data: { accepted: true },
      metadata: { logs: [{ message: expect.stringMatching(WAITING) }] },
    })
    const sent = await story.post(cheap())
    expect(sent.body.data).toMatchObject({
      status: 'pending',
      when: { fee_at_most: String(5n * GWEI), at_end: 'expire' },
      status_reason: expect.stringMatching(WAITING),
    })
    expect(sent.body.data.nonce).toBeUndefined()
    const { id } = sent.body.data
    expect(await diagnose(id)).toMatchObject({
      findings: [{ code: 'awaits_price', message: expect.stringMatching(WAITING) }],
      next_action: { action: 'sign' },
    })
    const later = await story.send({ to: RECEIVER, value: '1', speed: 'fast' })
    await story.reach(later.id, 'submitted')
    await story.mine(2)
    clock.advance(PRICE_WAIT_MS)
    await story.reach(later.id, 'confirmed', () => clock.advance(1_000))
    expect(await story.get(id)).toMatchObject({ status: 'pending', attempts: [] })
    await setBaseFee(GWEI)
    const signed = await story.reach(id, 'submitted', () => clock.advance(PRICE_WAIT_MS))
    expect(signed.status_reason).toBeUndefined()
    await story.mine(2)
    await story.reach(id, 'confirmed', () => clock.advance(1_000))
  })

  test('is signed immediately if the fee is low', async () => {
    await setBaseFee(GWEI)
    const { id } = await story.send(cheap())
    await story.reach(id, 'submitted')
    await story.settle()
  })

  test('expires unsigned at its end, if it is to', async () => {
    await setBaseFee(50n * GWEI)
    const valid_until = new Date(clock.now() + 60_000).toISOString()
    const { id } = await story.send(cheap({ valid_until }))
    const expired = await story.reach(id, 'expired', () => clock.advance(PRICE_WAIT_MS))
    expect(expired).toMatchObject({ attempts: [] })
  })

  test('is sent at its end whatever the fee is, if it is to', async () => {
    await setBaseFee(50n * GWEI)
    const valid_until = new Date(clock.now() + 60_000).toISOString()
    const when = { fee_at_most: String(GWEI), at_end: 'send' }
    const { id, ...sent } = await story.send(cheap({ valid_until, when }))
    expect(sent).toMatchObject({ status: 'pending', when: { ...when, until: valid_until } })
    clock.advance(30_000)
    await story.mine()
    expect(await story.get(id)).toMatchObject({ status: 'pending', attempts: [] })
    await story.reach(id, 'submitted', () => clock.advance(PRICE_WAIT_MS))
    await story.settle()
  })

  test('reserves nothing, and is canceled immediately', async () => {
    await setBaseFee(50n * GWEI)
    const { id } = await story.send(cheap())
    expect((await story.cancel(id)).body.data).toMatchObject({ status: 'canceled', attempts: [] })
  })

  test.each([
    ['without an end', { valid_until: undefined }, /^when: expected with valid_until/],
    [
      'with a price of its own',
      { speed: undefined, gas_price: '1000000000' },
      /^when: expected without gas_price/,
    ],
    ['with an end in the past', { valid_until: '2020-01-01T00:00:00.000Z' }, /^valid_until: /],
    ['without a fee', { when: { at_end: 'send' } }, /when\.fee_at_most/],
    ['with another word', { when: { fee_at_most: 1, at_end: 'wait' } }, /when\.at_end/],
  ])('%s is refused', async (_name, change, sentence) => {
    const answer = await story.post(cheap(change))
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatch(sentence)
  })

  test('is refused as the replacement of a signed one', async () => {
    await setBaseFee(GWEI)
    const { id } = await story.send({ to: RECEIVER, value: '1', speed: 'fast' })
    await story.reach(id, 'submitted')
    expect((await story.replace(id, cheap())).body.error).toMatch(/^when: not expected here, because/)
    await story.settle()
  })

  test('can be what a schedule sends, with the longest wait of a run', async () => {
    const schedules = schedulesOf(story.service.api)
    const transaction = { to: RECEIVER, value: '1', when: { fee_at_most: '1', at_end: 'send' } }
    expect((await schedules.create({ transaction })).body.error).toMatch(/valid_for_seconds/)
    const { id } = await schedules.mustCreate({ transaction, valid_for_seconds: 3_600 })
    expect((await schedules.get(id)).transaction).toMatchObject({ when: { fee_at_most: '1' } })
    await schedules.remove(id)
  })
})
