import { expect, test } from 'vitest'
import { decideTopUp } from '../../../src/transactions/top-up/top-up.ts'

const RULE = { from: 'treasury', below: 100n, to: 300n, max_per_day: 500n }

test.each([
  ['a balance at the threshold is enough', { spendable: 100n }, 0n, { kind: 'enough' }],
  ['a lower one is restored', { spendable: 99n }, 0n, { kind: 'pay', amount: 201n }],
  ['the reserve is paid on top', { spendable: 0n, missingReserve: 50n }, 0n, { kind: 'pay', amount: 350n }],
  ['only what is left of the day is paid', { spendable: 0n }, 400n, { kind: 'pay', amount: 100n }],
  ['nothing is left', { spendable: 0n }, 500n, { kind: 'limit_reached' }],
  ['more was paid than the limit is now', { spendable: 0n }, 900n, { kind: 'limit_reached' }],
  [
    'no more than the reserve is left',
    { spendable: 0n, missingReserve: 50n },
    450n,
    { kind: 'limit_reached' },
  ],
])('%s', (_title, funds, paid, expected) => {
  expect(decideTopUp(RULE, { missingReserve: 0n, exists: true, ...funds }, { paid })).toEqual(expected)
})
