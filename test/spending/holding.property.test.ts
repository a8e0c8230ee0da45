import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { add, maxSpent, type Spent, subtract, ZERO_SPENT } from '../../src/spending/budget.ts'
import { countChanges, type Holding, increase, release, reopen } from '../../src/spending/holding.ts'
import { NETWORK, spentOf } from './build.ts'

const amounts = fc
  .record({ value: fc.bigInt(0n, 50n), fees: fc.bigInt(0n, 50n), count: fc.constantFrom(0, 1) })
  .map(({ value, fees, count }) => spentOf(value, fees, count))

const NOW = new Date(2_000)
const HELD: Holding = {
  transactionId: 'tx',
  subject: 'key:0',
  network: NETWORK,
  asset: 'native',
  version: 1,
  closed: false,
  at: new Date(1_000),
  most: spentOf(10, 5, 1),
  counted: spentOf(10, 5, 1),
  settled: false,
}

/** The times at which a change counts, and the sum of what it adds. */
function changeTo(after: Holding, before = HELD) {
  const changes = countChanges({ before, after })
  const sum = changes.reduce((total, { spent }) => add(total, spent), ZERO_SPENT)
  return { times: changes.map(({ at }) => at), sum }
}

describe('raise', () => {
  test.each<[string, Spent, Spent]>([
    ['a higher value', spentOf(11, 5, 1), spentOf(11, 5, 1)],
    ['higher fees', spentOf(0, 6, 1), spentOf(10, 6, 1)],
  ])('takes the larger of each amount from now on: %s', (_what, spent, counted) => {
    expect(increase(HELD, spent, NOW)).toMatchObject({ most: counted, counted, at: NOW })
  })

  test.each([spentOf(10, 5, 1), spentOf(3, 5, 1), ZERO_SPENT])(
    'changes nothing for what is not more: %o',
    (spent) => {
      expect(increase(HELD, spent, NOW)).toBe(HELD)
    },
  )

  test('never lowers anything', () => {
    fc.assert(
      fc.property(amounts, (spent) => {
        expect(increase(HELD, spent, NOW).counted).toEqual(maxSpent(HELD.counted, spent))
      }),
    )
  })
})

test('what counts at another time is taken from the one and added to the other', () => {
  expect(changeTo({ ...HELD, at: NOW })).toEqual({ times: [HELD.at, NOW], sum: ZERO_SPENT })
})

describe('settle', () => {
  test.each<[string, Spent, Spent]>([
    ['all of it', spentOf(10, 5, 1), spentOf(10, 5, 1)],
    ['a lower fee', spentOf(10, 2, 1), spentOf(10, 2, 1)],
    ['a higher fee than anyone expected', spentOf(10, 8, 1), spentOf(10, 8, 1)],
    ['a value that a third party sent', spentOf(99, 2, 1), spentOf(10, 2, 1)],
    ['nothing', ZERO_SPENT, ZERO_SPENT],
  ])('counts what the transaction took, at the time it counted before: %s', (_what, took, counted) => {
    const settled = release(HELD, took)
    expect(settled).toEqual({ ...HELD, counted, settled: true })
    const { sum, times } = changeTo(settled)
    expect(sum).toEqual(subtract(counted, HELD.counted))
    expect(times).toEqual(times.map(() => HELD.at))
  })

  test('changes nothing when it is done twice', () => {
    const once = release(HELD, spentOf(3, 2, 1))
    expect(release(once, spentOf(3, 2, 1))).toEqual(once)
    expect(changeTo(once, once).times).toEqual([])
  })
})

describe('reopen', () => {
  test('counts the most again, whatever it was settled to, at the time it counted before', () => {
    fc.assert(
      fc.property(amounts, (took) => {
        const settled = release(HELD, took)
        expect(reopen(settled)).toEqual(HELD)
        const { sum, times } = changeTo(HELD, settled)
        expect(sum).toEqual(subtract(HELD.most, settled.counted))
        expect(times).toEqual(times.map(() => HELD.at))
      }),
    )
  })

  test('changes nothing of what is open', () => {
    expect(reopen(HELD)).toBe(HELD)
  })
})
