import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { add, maxSpent, type Spent, subtract, ZERO_SPENT } from '../../src/spending/budget.ts'
import {
  type CountChange,
  countedSince,
  type Holding,
  type HoldingChange,
  increase,
  release,
  reopen,
  reserve,
} from '../../src/spending/holding.ts'
import { NETWORK, spentOf } from './build.ts'

const amounts = fc
  .record({ value: fc.bigInt(0n, 50n), fees: fc.bigInt(0n, 50n), count: fc.constantFrom(0, 1) })
  .map(({ value, fees, count }) => spentOf(value, fees, count))

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('hold', 'raise', 'settle', 'reopen'),
    holding: fc.nat(3),
    spent: amounts,
    laterMs: fc.nat(1000),
  }),
  { maxLength: 40 },
)

const counter = (index: number) => ({
  subject: `key:${index % 2}`,
  network: NETWORK,
  asset: index < 2 ? 'native' : 'token',
})

function begin(index: number, spent: Spent, at: Date): HoldingChange {
  return reserve(counter(index), { version: 1, transactionId: `tx ${index}`, at, spent, settled: false })
}

/** Sums by spender, asset and time. */
function sumsOf(items: readonly Pick<CountChange, 'subject' | 'asset' | 'at' | 'spent'>[]) {
  const sums = new Map<string, Spent>()
  for (const { subject, asset, at, spent } of items) {
    const key = `${subject} ${asset} ${at.getTime()}`
    sums.set(key, add(sums.get(key) ?? ZERO_SPENT, spent))
  }
  return new Map([...sums].filter(([, { value, fees, count }]) => value !== 0n || fees !== 0n || count !== 0))
}

test('the changes of the sums add up to what the holdings count, whatever happens to them', () => {
  fc.assert(
    fc.property(steps, (list) => {
      const holdings = new Map<number, Holding>()
      const changes: CountChange[] = []
      let now = 1_000_000
      for (const { what, holding: index, spent, laterMs } of list) {
        now += laterMs
        const before = holdings.get(index)
        const at = new Date(now)
        const change =
          before === undefined
            ? begin(index, spent, at)
            : what === 'settle'
              ? release(before, spent)
              : what === 'reopen'
                ? reopen(before)
                : increase(before, spent, at)
        if (change === undefined) continue
        holdings.set(index, change.holding)
        changes.push(...change.changes)
      }
      const counted = [...holdings.values()].map((one) => ({ ...one, spent: one.counted }))
      expect(sumsOf(changes)).toEqual(sumsOf(counted))
    }),
  )
})

const NOW = new Date(2_000)
const { holding: HELD } = begin(0, spentOf(10, 5, 1), new Date(1_000))

describe('raise', () => {
  test.each<[string, Spent, Spent]>([
    ['a higher value', spentOf(11, 5, 1), spentOf(11, 5, 1)],
    ['higher fees', spentOf(0, 6, 1), spentOf(10, 6, 1)],
  ])('takes the larger of each amount from now on: %s', (_what, spent, counted) => {
    expect(increase(HELD, spent, NOW)?.holding).toMatchObject({ most: counted, counted, at: NOW })
  })

  test.each([spentOf(10, 5, 1), spentOf(3, 5, 1), ZERO_SPENT])(
    'changes nothing for what is not more: %o',
    (spent) => {
      expect(increase(HELD, spent, NOW)).toBeUndefined()
    },
  )

  test('never lowers anything', () => {
    fc.assert(
      fc.property(amounts, (spent) => {
        const after = increase(HELD, spent, NOW)?.holding ?? HELD
        expect(after.counted).toEqual(maxSpent(HELD.counted, spent))
      }),
    )
  })
})

describe('settle', () => {
  test.each<[string, Spent, Spent]>([
    ['all of it', spentOf(10, 5, 1), spentOf(10, 5, 1)],
    ['a lower fee', spentOf(10, 2, 1), spentOf(10, 2, 1)],
    ['a higher fee than anyone expected', spentOf(10, 8, 1), spentOf(10, 8, 1)],
    ['a value that a third party sent', spentOf(99, 2, 1), spentOf(10, 2, 1)],
    ['nothing', ZERO_SPENT, ZERO_SPENT],
  ])('counts what the transaction took, at the time it counted before: %s', (_what, took, counted) => {
    const { holding, changes } = release(HELD, took)
    expect(holding).toEqual({ ...HELD, counted, settled: true })
    const sum = changes.reduce((total, { spent }) => add(total, spent), ZERO_SPENT)
    expect(sum).toEqual(subtract(counted, HELD.counted))
    expect(changes.map(({ at }) => at)).toEqual(changes.map(() => HELD.at))
  })

  test('changes nothing when it is done twice', () => {
    const once = release(HELD, spentOf(3, 2, 1)).holding
    expect(release(once, spentOf(3, 2, 1))).toEqual({ holding: once, changes: [] })
  })
})

describe('reopen', () => {
  test('counts the most again, whatever it was settled to, at the time it counted before', () => {
    fc.assert(
      fc.property(amounts, (took) => {
        const settled = release(HELD, took).holding
        const again = reopen(settled)
        expect(again?.holding).toEqual(HELD)
        const sum = (again?.changes ?? []).reduce((total, { spent }) => add(total, spent), ZERO_SPENT)
        expect(sum).toEqual(subtract(HELD.most, settled.counted))
        expect(again?.changes.map(({ at }) => at)).toEqual([HELD.at, HELD.at])
      }),
    )
  })

  test('changes nothing of what is open', () => {
    expect(reopen(HELD)).toBeUndefined()
  })
})

test.each([
  [999, spentOf(10, 5, 1)],
  [1_000, spentOf(10, 5, 1)],
  [1_001, ZERO_SPENT],
])('a holding of time 1000 counts since %i: %o', (since, counted) => {
  expect(countedSince(HELD, new Date(since))).toEqual(counted)
})
