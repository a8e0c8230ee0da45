import { expect, test } from 'vitest'
import type { Attempt, ChargedFee } from '../../src/chains/attempt.ts'
import { reportCsv, spendingOf } from '../../src/reports/report-rows.ts'
import { allowing, effectsWith } from '../support/samples.ts'
import { itemOf } from '../transactions/build.ts'

test('no field of the CSV makes a spreadsheet calculate', () => {
  const row = {
    day: '2026-11-20',
    relayer_id: '-2-3',
    requested_by: '-A1',
    network: 'evm:sepolia',
    asset: 'native',
    value: '5',
    fees: '1',
    transactions: 1,
    unknown_values: 0,
    unknown_fees: 0,
    earned: '2',
    unknown_earned: 0,
  }
  expect(reportCsv([row]).split('\r\n')[1]).toBe("2026-11-20,'-2-3,'-A1,evm:sepolia,native,5,1,1,0,0,2,0")
})

const AMOUNTS = [
  { asset: 'native', value: 60n },
  { asset: 'token', value: 7n },
]
const EFFECTS = effectsWith({ amounts: AMOUNTS })

const readerOf = (effects = EFFECTS) => ({
  effects: () => effects,
  paidFee: ({ result }: Attempt) => result?.feeCharged,
})

const MINED = { outcome: 'mined', result: { feeCharged: 3n as ChargedFee } } as const

test.each([
  ['never signed', itemOf([])],
  ['never included', itemOf([{ outcome: 'expired' }])],
])('what was %s spent nothing', (_what, item) => {
  expect(spendingOf(item, readerOf())).toBeUndefined()
})

test.each<[string, Parameters<typeof itemOf>[0], object]>([
  ['included content', [MINED], { amounts: AMOUNTS, fee: 3n, isComplete: true }],
  ['a failed execution', [{ ...MINED, outcome: 'reverted' }], { amounts: [], fee: 3n, isComplete: true }],
  ['a cancellation', [{}, { kind: 'cancel', ...MINED }], { amounts: [], fee: 3n, isComplete: true }],
  [
    'an inclusion without a receipt',
    [{ outcome: 'mined' }],
    { amounts: AMOUNTS, fee: undefined, isComplete: true },
  ],
])('%s', (_what, attempts, want) => {
  expect(spendingOf(itemOf(attempts), readerOf())).toEqual(want)
})

test('content that the record does not have any more is not known', () => {
  const item = itemOf([MINED, { kind: 'replace', outcome: 'superseded' }], { currentAttempt: 1 })
  expect(spendingOf(item, readerOf())).toEqual({ amounts: [], fee: 3n, isComplete: false })
})

test('a fee that another account paid is none', () => {
  const paidByOther = { ...readerOf(), paidFee: () => undefined }
  expect(spendingOf(itemOf([MINED]), paidByOther)?.fee).toBe(0n)
})

test('an allowance moves nothing, and a call that cannot be read leaves the value open', () => {
  const allowed = effectsWith(allowing({ amounts: AMOUNTS }))
  expect(spendingOf(itemOf([MINED]), readerOf(allowed))?.amounts).toEqual([])
  const unread = { ...EFFECTS, unread: [{ target: 'contract' }] }
  expect(spendingOf(itemOf([MINED]), readerOf(unread))).toEqual({
    amounts: AMOUNTS,
    fee: 3n,
    isComplete: false,
  })
})

test.each([
  ['that a node told', { received: 90n }, 90n],
  ['that no node told', {}, undefined],
  ['that was less than nothing', { received: -3n }, 0n],
])('a payment %s is never reported as quoted', (_what, told, value) => {
  const payment = {
    quoteId: 'q',
    token: 'mint',
    amount: 100n,
    payer: 'p',
    receiver: 'r',
    fee: 5n,
    validUntil: new Date(0),
  }
  const item = itemOf([{ ...MINED, result: { feeCharged: 3n as ChargedFee, ...told } }], {
    request: { type: 'solana', transaction: '', speed: 'average', payment },
  })
  expect(spendingOf(item, readerOf())?.earned).toEqual({ asset: 'mint', value })
})
