import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Transaction } from '../../support/service.ts'
import {
  keypairOf,
  MAIN,
  payment,
  RECEIVER,
  type StellarScenario,
  signedPayment,
  startStellarScenario,
  XLM,
} from '../../support/stellar-scenario.ts'

const CUSTOMER = keypairOf('customer')
const ISSUER = keypairOf('issuer').publicKey()

let story: StellarScenario
beforeAll(async () => {
  story = await startStellarScenario()
  for (const account of [CUSTOMER.publicKey(), ISSUER]) story.ledger.fund(account, 100n * XLM)
})
afterAll(() => story.stop())

const paid = (amount: bigint, from = MAIN.publicKey()) => ({
  from,
  to: RECEIVER,
  asset: 'native',
  amount: String(amount),
  symbol: 'XLM',
  decimals: 7,
})

async function found(query: string): Promise<readonly string[]> {
  const { body } = await story.service.api<Transaction[]>('GET', `/transactions?${query}`)
  return body.data.map(({ id }) => id)
}

test('a payment is expected until its ledger tells it', async () => {
  const { id, transfers } = await story.send(payment(5n))
  expect(transfers).toEqual([{ ...paid(5n), expected: true }])
  expect((await story.closeUntil(id, 'confirmed')).transfers).toEqual([paid(5n)])
})

test('what others signed and the relayer pays for is told of their account', async () => {
  const transaction_xdr = signedPayment(story.ledger, { keypair: CUSTOMER, amount: '2' })
  const { id } = await story.send({ network: 'standalone', transaction_xdr, fee_bump: true })
  expect((await story.closeUntil(id, 'confirmed')).transfers).toEqual([paid(2n * XLM, CUSTOMER.publicKey())])
})

test('a path payment is found by what it delivered, which its content does not say', async () => {
  const euro = { type: 'credit4', code: 'EUR', issuer: ISSUER }
  const asset = `EUR:${ISSUER}`
  story.ledger.offer({ seller: ISSUER, selling: 'native', buying: asset, price: { n: 1n, d: 3n } })
  story.ledger.offer({ seller: ISSUER, selling: asset, buying: 'native', price: { n: 3n, d: 1n } })
  const operations = [
    {
      type: 'path_payment_strict_send',
      send_asset: { type: 'native' },
      send_amount: '9',
      destination: ISSUER,
      dest_asset: euro,
      dest_min: '1',
    },
  ]
  const { id, transfers } = await story.send({ network: 'standalone', operations })
  expect(transfers).toEqual([{ ...paid(9n), to: ISSUER, expected: true }])
  const exactly = (amount: number) =>
    found(`to=${ISSUER}&asset=${encodeURIComponent(asset)}&min_amount=${amount}&max_amount=${amount}`)
  expect(await exactly(3)).toEqual([])
  const { to: _, ...taken } = paid(9n)
  expect((await story.closeUntil(id, 'confirmed')).transfers).toEqual([
    { from: MAIN.publicKey(), to: ISSUER, asset, amount: '3', decimals: 7 },
    taken,
  ])
  expect(await exactly(3)).toEqual([id])
})
