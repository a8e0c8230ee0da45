import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  MAIN,
  payment,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
  submitTo,
} from '../../support/stellar-scenario.ts'

let scenario: StellarScenario

beforeAll(async () => {
  scenario = await startStellarScenario()
})
afterAll(() => scenario.stop())

describe('replace on Stellar', () => {
  test('takes the place in the queue of the network, with the same sequence number, in a fee bump', async () => {
    const { ledger, send, reach, replace, closeUntil } = scenario
    const before = ledger.account(RECEIVER)?.balance ?? 0n
    const { id } = await send(payment(111n))
    const first = await reach(id, 'submitted')
    const { status, body } = await replace(id, payment(222n))
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ id, sequence_number: first.sequence_number, fee_bump: true })
    expect(body.data.hash).not.toBe(first.hash)
    expect(ledger.queue()).toHaveLength(1)
    const confirmed = await closeUntil(id, 'confirmed')
    expect(confirmed.hash).toBe(body.data.hash)
    expect(ledger.account(RECEIVER)?.balance).toBe(before + 222n)
    expect(ledger.included(first.hash ?? '')).toBeUndefined()
    expect(confirmed.attempts).toMatchObject([
      { kind: 'send', outcome: 'superseded' },
      { kind: 'replace', outcome: 'mined' },
    ])
  })

  test('below ten times the fee is refused, with the max_fee that would do, and nothing changes', async () => {
    const { send, reach, replace, get, closeUntil } = scenario
    const { id } = await send(payment(1n))
    const first = await reach(id, 'submitted')
    const refused = await replace(id, payment(2n, { max_fee: 1_000 }))
    expect(refused).toMatchObject({ status: 400, body: { code: 'replacement_underpriced' } })
    const least = /at least (\d+)/.exec(refused.body.error ?? '')?.[1]
    expect(await get(id)).toEqual(first)
    const { status } = await replace(id, payment(2n, { max_fee: Number(least) }))
    expect(status).toBe(200)
    await closeUntil(id, 'confirmed')
  })

  test('a cancellation takes the place by something that does nothing', async () => {
    const { ledger, send, reach, cancel, closeUntil } = scenario
    const before = ledger.account(RECEIVER)?.balance ?? 0n
    const { id } = await send(payment(333n))
    await reach(id, 'submitted')
    expect((await cancel(id)).status).toBe(200)
    const canceled = await closeUntil(id, 'canceled')
    expect(canceled.attempts).toMatchObject([
      { kind: 'send', outcome: 'superseded' },
      { kind: 'cancel', outcome: 'mined' },
    ])
    expect(ledger.account(RECEIVER)?.balance).toBe(before)
    expect(ledger.account(MAIN.publicKey())?.sequence).toBe(BigInt(canceled.sequence_number ?? 0))
  })

  test('when the ledger includes the earlier version all the same, the record says so', async () => {
    const { ledger, send, reach, replace, closeUntil, get } = scenario
    const { id } = await send(payment(444n))
    const first = await reach(id, 'submitted')
    const [raw] = [first.transaction_xdr ?? '']
    expect((await replace(id, payment(555n))).status).toBe(200)
    // Another node had taken only the first version, and its ledger wins.
    ledger.dropQueue()
    expect(await submitTo(ledger, raw)).toBe('PENDING')
    ledger.close()
    const confirmed = await closeUntil(id, 'confirmed')
    expect(confirmed.hash).toBe(first.hash)
    expect(confirmed.status_reason).toMatch(/has lost/)
    expect((await get(id)).status).toBe('confirmed')
  })

  test('a final one cannot be replaced', async () => {
    const { send, closeUntil, replace } = scenario
    const { id } = await send(payment(1n))
    await closeUntil(id, 'confirmed')
    expect(await replace(id, payment(2n))).toMatchObject({
      status: 400,
      body: { code: 'transaction_not_replaceable' },
    })
  })
})
