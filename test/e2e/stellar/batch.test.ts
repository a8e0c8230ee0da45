import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendBatch } from '../../support/service.ts'
import {
  MAIN,
  payment,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
} from '../../support/stellar-scenario.ts'

let scenario: StellarScenario

beforeAll(async () => {
  scenario = await startStellarScenario()
}, 60_000)
afterAll(() => scenario.stop())

test('the sequence numbers of a batch on Stellar follow its order, and each payment is made once', async () => {
  const { ledger, service, closeUntil } = scenario
  const before = ledger.account(RECEIVER)?.balance ?? 0n
  const first = ledger.account(MAIN.publicKey())?.sequence ?? 0n
  const { status, body } = await sendBatch(service, [payment(1), payment(20), payment(300)])
  expect(status).toBe(200)
  const numbers: string[] = []
  for (const { id } of body.data) {
    const { sequence_number } = await closeUntil(id, 'confirmed')
    numbers.push(sequence_number ?? '')
  }
  expect(numbers).toEqual([1n, 2n, 3n].map((step) => String(first + step)))
  expect(ledger.account(RECEIVER)?.balance).toBe(before + 321n)
})

test('a wrong operation refuses the whole batch, and the error names the item', async () => {
  const wrong = { ...payment(1), network: 'elsewhere' }
  const { status, body } = await sendBatch(scenario.service, [payment(1), wrong])
  expect([status, body.error]).toEqual([400, expect.stringContaining('body.transactions[1].network: ')])
})
