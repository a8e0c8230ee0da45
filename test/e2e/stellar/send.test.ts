import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  keypairOf,
  MAIN,
  payAs,
  payment,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
  XLM,
} from '../../support/stellar-scenario.ts'

let scenario: StellarScenario

beforeAll(async () => {
  scenario = await startStellarScenario()
})
afterAll(() => scenario.stop())

describe('send on Stellar', () => {
  test('a payment goes from pending to confirmed and pays exactly what was asked', async () => {
    const { ledger, send, reach, closeUntil } = scenario
    const before = ledger.account(RECEIVER)?.balance ?? 0n
    const sequence = ledger.account(MAIN.publicKey())?.sequence ?? 0n
    const accepted = await send(payment(12_345_678n))
    expect(accepted).toMatchObject({ status: 'pending', from: MAIN.publicKey(), attempts: [] })
    const submitted = await reach(accepted.id, 'submitted')
    expect(submitted).toMatchObject({
      source_account: MAIN.publicKey(),
      sequence_number: String(sequence + 1n),
      fee_bump: false,
    })
    const confirmed = await closeUntil(accepted.id, 'confirmed')
    expect(ledger.account(RECEIVER)?.balance).toBe(before + 12_345_678n)
    const included = ledger.included(confirmed.hash ?? '')
    expect(included).toBeDefined()
    // Charged is what the ledger asked, not what was bid.
    expect(confirmed.fee).toBe(100)
    expect(confirmed.attempts).toMatchObject([{ kind: 'send', outcome: 'mined', hash: confirmed.hash }])
    expect(confirmed.signature).toMatchObject({ v: 0 })
    expect(confirmed.result_xdr).toBeTypeOf('string')
  })

  test('many at the same time: one after the other, each once, in the order of acceptance', async () => {
    const { ledger, send, closeUntil } = scenario
    const first = ledger.account(MAIN.publicKey())?.sequence ?? 0n
    const sent = await Promise.all([1, 2, 3, 4].map((amount) => send(payment(amount))))
    const last = await Promise.all(sent.map(({ id }) => closeUntil(id, 'confirmed')))
    const numbers = last
      .map(({ sequence_number }) => BigInt(sequence_number ?? 0))
      .sort((a, b) => (a < b ? -1 : 1))
    expect(numbers).toEqual([1n, 2n, 3n, 4n].map((step) => first + step))
  })

  test('what the ledger includes and refuses to do is failed, with the reason in words', async () => {
    const { send, closeUntil } = scenario
    const asset = { type: 'credit4', code: 'USD', issuer: RECEIVER }
    const { id } = await send({
      network: 'standalone',
      operations: [{ type: 'payment', destination: RECEIVER, asset, amount: '5' }],
    })
    const failed = await closeUntil(id, 'failed')
    expect(failed.status_reason).toMatch(/trust/i)
    expect(failed.attempts).toMatchObject([{ outcome: 'reverted' }])
  })

  test('an account with too little money gets an error, and nothing is stored', async () => {
    const { service } = scenario
    const answer = await service.api('POST', '/relayers/main/transactions', payment(5_000n * XLM))
    expect(answer).toMatchObject({ status: 400, body: { code: 'insufficient_balance' } })
  })
})

describe('a full queue', () => {
  test('that asks for more than the ledgers charge gets more, within max_fee, with the same sequence number', async () => {
    const { ledger, send, reach, closeUntil } = scenario
    ledger.setCapacity(1)
    const rivals = ['rival 1', 'rival 2', 'rival 3'].map(keypairOf)
    for (const rival of rivals) ledger.fund(rival.publicKey(), 100n * XLM)
    const waiting = await Promise.all(rivals.map((rival) => payAs(ledger, rival, '5000')))
    expect(waiting).toContain('PENDING')
    const { id } = await send(payment(77n))
    await reach(id, 'submitted')
    const confirmed = await closeUntil(id, 'confirmed')
    expect(confirmed.attempts).toMatchObject([{ outcome: 'refused' }, { outcome: 'mined' }])
    expect(new Set(confirmed.attempts.map(({ sequence_number }) => sequence_number)).size).toBe(1)
    ledger.setCapacity(1_000)
  }, 30_000)
})
