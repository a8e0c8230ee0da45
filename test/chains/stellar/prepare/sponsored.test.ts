import { afterEach, beforeEach, expect, test } from 'vitest'
import { OTHER, paymentOf, requestOf, SELF } from '../build.ts'
import { type Stage, setStage } from '../stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await setStage()
})
afterEach(() => stage.ledger.stop())

const PAYMENT = {
  quoteId: 'quote',
  token: 'native',
  amount: 500n,
  payer: OTHER,
  receiver: SELF,
  fee: 300n,
  validUntil: new Date('2030-01-01T00:00:00.000Z'),
}

test.each([
  ['is what was paid for', undefined, 300n],
  ['is what was paid for, although the caller allows more', 301n, 300n],
  ['is what the caller allows, which is less', 299n, 299n],
])('the highest bid for a transaction that a user pays %s', async (_, maxFee, expected) => {
  const { envelope } = await stage.prepare(requestOf({ operations: [paymentOf(1n)] }))
  const request = requestOf({
    transactionXdr: envelope,
    feeBump: true,
    ...(maxFee !== undefined && { maxFee }),
  })
  expect(stage.chain.sponsoring?.withPayment(request, PAYMENT)).toMatchObject({
    kind: 'ok',
    value: { maxFee: expected, payment: PAYMENT },
  })
})
