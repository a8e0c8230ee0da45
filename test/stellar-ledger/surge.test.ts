import { Operation } from '@stellar/stellar-sdk'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Desk, openDesk } from './desk.ts'

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(() => desk.ledger.stop())

const NOTHING = Operation.bumpSequence({ bumpTo: '0' })

/** Sends one transaction of a new account for each fee; gives what was charged by the next ledger, by fee. */
async function ledgerOf(fees: readonly number[]): Promise<(readonly [number, bigint])[]> {
  for (const fee of fees) {
    expect((await desk.send(desk.build(desk.person(), [NOTHING], { fee: String(fee) }))).status).toBe(
      'PENDING',
    )
  }
  const { transactions } = desk.ledger.close()
  return transactions
    .map(({ frame, frameResult }) => [Number(frame.fee), frameResult.feeCharged] as const)
    .sort(([a], [b]) => b - a)
}

test('as long as all fit, all pay the base fee, whatever they bid', async () => {
  expect(await ledgerOf([100, 5000])).toEqual([
    [5000, 100n],
    [100, 100n],
  ])
})

test('when not all fit, the best bids get in and pay what the cheapest of them bid', async () => {
  desk.ledger.setCapacity(2)
  expect(await ledgerOf([100, 700, 5000])).toEqual([
    [5000, 700n],
    [700, 700n],
  ])
  expect(desk.ledger.queue().map(({ fee }) => fee)).toEqual([100n])
  expect(await ledgerOf([])).toEqual([[100, 100n]])
})

test('the fee statistics tell what was charged for an operation', async () => {
  await ledgerOf([100])
  desk.ledger.setCapacity(2)
  await ledgerOf([100, 700, 5000])
  const { inclusionFee, sorobanInclusionFee, latestLedger } = await desk.client.getFeeStats()
  expect(inclusionFee).toMatchObject({
    max: '700',
    min: '100',
    mode: '700',
    p30: '100',
    p50: '700',
    p99: '700',
  })
  expect(inclusionFee).toMatchObject({ transactionCount: '3', ledgerCount: 3 })
  expect(sorobanInclusionFee).toMatchObject({ max: '0', p99: '0', transactionCount: '0' })
  expect(latestLedger).toBe(3)
})

test('a fee bump takes the capacity of one operation more than its inner transaction', async () => {
  desk.ledger.setCapacity(2)
  const [alice, payer] = [desk.person(), desk.person()]
  await desk.send(desk.bump(payer, desk.build(alice, [NOTHING]), 2000n))
  expect(await ledgerOf([300])).toEqual([[2000, 2000n]])
})
