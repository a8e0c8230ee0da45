import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { PRICE_WAIT_MS } from '../../../src/transactions/model/due.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'

const GWEI = 1_000_000_000n
/** A tenth of the base fee that anvil begins with. */
const CHEAP = { gas_price: String(GWEI / 10n) }
/** So many empty blocks, each with seven eighths of the base fee before it, bring the base fee below that. */
const BLOCKS_DOWN = 25
const TOO_CHEAP =
  /^Waiting for its price: it offers \d+ wei per gas, and the next block requires at least \d+\./

let clock: AdjustableClock
let story: Scenario

beforeAll(async () => {
  clock = createAdjustableClock()
  story = await startScenario({ clock })
})
afterAll(() => story.stop())

const pay = (change: object = {}) => ({ to: RECEIVER, value: '1', ...change })

/** The base fee of the next block, from which the prices of a test are far away. */
async function setBaseFee(wei: bigint) {
  await story.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${wei.toString(16)}`])
  await story.mine()
  clock.advance(3_000)
}

async function diagnose(id: string) {
  const path = `/relayers/main/transactions/${id}/diagnosis`
  return (await story.service.api<Schemas['Diagnosis']>('GET', path)).body.data
}

describe('a price below what the next block asks', () => {
  test('is accepted and said so, takes no nonce, is overtaken, and is signed when the market has come down to it', async () => {
    await setBaseFee(GWEI)
    const dry = await story.service.api<Schemas['DryRun']>(
      'POST',
      '/relayers/main/transactions?dry_run=true',
      pay(CHEAP),
    )
    expect(dry.body).toMatchObject({
      data: { accepted: true },
      metadata: { logs: [{ message: expect.stringMatching(TOO_CHEAP) }] },
    })
    const sent = await story.post(pay(CHEAP))
    expect([sent.status, sent.body.data.status, sent.body.data.nonce]).toEqual([200, 'pending', undefined])
    expect(sent.body.metadata?.logs).toEqual([
      expect.objectContaining({ message: expect.stringMatching(TOO_CHEAP) }),
    ])
    const { id } = sent.body.data
    expect(await diagnose(id)).toMatchObject({
      findings: [{ code: 'awaits_price', message: expect.stringMatching(TOO_CHEAP) }],
      next_action: { action: 'sign' },
    })
    const later = await story.send(pay({ speed: 'fast' }))
    await story.reach(later.id, 'submitted')
    clock.advance(PRICE_WAIT_MS)
    await story.mine(2)
    await story.reach(later.id, 'confirmed')
    expect(await story.get(id)).toMatchObject({ status: 'pending', attempts: [] })

    await story.mine(BLOCKS_DOWN)
    await story.reach(id, 'submitted', () => clock.advance(PRICE_WAIT_MS))
    await story.mine(2)
    const confirmed = await story.reach(id, 'confirmed', () => clock.advance(1_000))
    expect(confirmed).toMatchObject({ gas_price: CHEAP.gas_price })
    expect(confirmed.status_reason).toBeUndefined()
  })

  test('reserves nothing, and is canceled immediately', async () => {
    await setBaseFee(100n * GWEI)
    const balance = await story.service.api<{ balance: string }>('GET', '/relayers/main/balance')
    const most = String(BigInt(balance.body.data?.balance ?? 0) - GWEI ** 2n / 10n)
    const { id } = await story.send(pay({ ...CHEAP, value: most }))
    const other = await story.send(pay({ value: most, gas_price: String(300n * GWEI), gas_limit: 21_000 }))
    await story.reach(other.id, 'submitted')
    expect((await story.cancel(id)).body.data).toMatchObject({ status: 'canceled', attempts: [] })
    expect((await story.cancel(other.id)).status).toBe(200)
    await story.settle()
  })

  test('expires without a signature when valid_until passes', async () => {
    await setBaseFee(100n * GWEI)
    const valid_until = new Date(clock.now() + 60_000).toISOString()
    const { id } = await story.send(pay({ ...CHEAP, valid_until }))
    const expired = await story.reach(id, 'expired', () => clock.advance(PRICE_WAIT_MS))
    expect(expired).toMatchObject({ attempts: [] })
  })

  test('is signed at a better price after a replacement', async () => {
    await setBaseFee(100n * GWEI)
    const { id } = await story.send(pay(CHEAP))
    const same = await story.replace(id, pay(CHEAP))
    expect(same.body.data).toMatchObject({ status: 'pending', attempts: [] })
    expect((await story.replace(id, pay({ gas_price: String(300n * GWEI) }))).status).toBe(200)
    await story.reach(id, 'submitted')
    await story.settle()
  })
})
