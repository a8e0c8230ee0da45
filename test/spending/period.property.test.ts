import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstStep, SHAPES, stepOf } from '../../src/spending/budget.ts'
import { decodeRules, encodeRules } from '../../src/spending/rule-table.ts'
import {
  type ApprovalThreshold,
  PERIODS,
  type SpendingLimit,
  type SpendingRules,
  WEEKDAYS,
} from '../../src/spending/rules.ts'
import { TOKEN } from './build.ts'

const START_MS = Date.UTC(2026, 0, 1)
const YEAR_MS = 366 * 24 * 60 * 60_000

test('what was spent counts for a whole period, and for at most one step more', () => {
  const ages = fc.oneof(
    fc.nat(40 * 24 * 60 * 60_000),
    // Near the end of a period, where it matters.
    fc
      .record({ period: fc.constantFrom(...PERIODS), off: fc.integer({ min: -2, max: 2 }), steps: fc.nat(2) })
      .map(({ period, off, steps }) => SHAPES[period].lengthMs + steps * SHAPES[period].stepMs + off),
  )
  fc.assert(
    fc.property(fc.constantFrom(...PERIODS), fc.nat(YEAR_MS), ages, (period, offset, age) => {
      const at = START_MS + offset
      const now = new Date(at + age)
      const counts = stepOf(period, new Date(at)) >= firstStep(period, now)
      const { lengthMs, stepMs } = SHAPES[period]
      if (age <= lengthMs) expect(counts).toBe(true)
      if (age >= lengthMs + stepMs) expect(counts).toBe(false)
    }),
  )
})

test('every time is in the step that began last', () => {
  fc.assert(
    fc.property(fc.constantFrom(...PERIODS), fc.nat(YEAR_MS), (period, offset) => {
      const at = START_MS + offset
      const step = stepOf(period, new Date(at)).getTime()
      expect(step).toBeLessThanOrEqual(at)
      expect(at - step).toBeLessThan(SHAPES[period].stepMs)
      expect(stepOf(period, new Date(step)).getTime()).toBe(step)
    }),
  )
})

const u128 = fc.bigInt(0n, 2n ** 128n - 1n)
const names = fc.uniqueArray(fc.constantFrom(TOKEN, 'native', `USD:G${'A'.repeat(55)}`, '1'.repeat(32)), {
  maxLength: 3,
})
const time = fc
  .tuple(fc.nat(23), fc.nat(59))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'))

const native: fc.Arbitrary<SpendingLimit> = fc.record(
  {
    per: fc.constantFrom(...PERIODS),
    asset: fc.constant('native'),
    network: fc.constantFrom('evm:testnet', 'solana:local'),
    value: u128,
    fees: u128,
    count: fc.nat(1_000_000_000),
  },
  { requiredKeys: ['per', 'asset', 'fees'] },
)
const ofToken: fc.Arbitrary<SpendingLimit> = fc.record({
  per: fc.constantFrom('transaction', ...PERIODS),
  asset: fc.constant(TOKEN),
  value: u128,
})

const threshold: fc.Arbitrary<ApprovalThreshold> = fc.record(
  { asset: fc.constantFrom('native', TOKEN), network: fc.constant('evm:testnet'), value: u128 },
  { requiredKeys: ['asset', 'value'] },
)

const rules: fc.Arbitrary<SpendingRules> = fc.record(
  {
    receivers: names,
    contracts: names,
    selectors: fc.constantFrom([], ['0xa9059cbb']),
    operations: fc.constantFrom([], ['payment']),
    assets: names,
    limits: fc.array(fc.oneof(native, ofToken), { maxLength: 4 }),
    require_approval: fc.record(
      {
        above: fc.array(threshold, { minLength: 1, maxLength: 3 }),
        new_receivers: fc.boolean(),
        expires_after_seconds: fc.integer({ min: 60, max: 2_592_000 }),
      },
      { requiredKeys: [] },
    ),
    hours: fc.record(
      { from: time, to: time, days: fc.subarray([...WEEKDAYS]) },
      { requiredKeys: ['from', 'to'] },
    ),
    idempotency: fc.constantFrom('required', 'optional'),
    signatures: fc.constantFrom('readable', 'any'),
  },
  { requiredKeys: [] },
)

test('rules come back from the database as they were, every digit of them', () => {
  fc.assert(
    fc.property(rules, (given) => {
      expect(decodeRules(JSON.parse(encodeRules(given)))).toEqual(given)
    }),
  )
})

// A rule that this release ignores would permit what it forbids.
test.each([
  ['a rule that is not known', { colors: ['red'] }],
  ['an amount that is not known', { limits: [{ per: 'day', value: '1', weight: '1' }] }],
  ['a period that is not known', { limits: [{ per: 'year', value: '1' }] }],
  ['a limit of nothing', { limits: [{ per: 'day' }] }],
  ['a count of one transaction', { limits: [{ per: 'transaction', count: 1 }] }],
  ['fees in a token', { limits: [{ per: 'day', asset: TOKEN, fees: '1' }] }],
  ['a negative amount', { limits: [{ per: 'day', value: '-1' }] }],
  ['no amount above which', { require_approval: { above: [] } }],
  ['a threshold without an amount', { require_approval: { above: [{ asset: 'native' }] } }],
  ['a wait of less than a minute', { require_approval: { expires_after_seconds: 59 } }],
  ['a wait of more than 30 days', { require_approval: { expires_after_seconds: 2_592_001 } }],
  ['an approval by something that is not known', { require_approval: { by: 'root' } }],
  ['a time of another day', { hours: { from: '08:00', to: '24:00' } }],
  ['a list that is none', { receivers: TOKEN }],
  ['a selector that is none', { selectors: ['0xa9059c'] }],
  ['no object', null],
])('%s is refused', (_what, stored) => {
  expect(() => decodeRules(stored)).toThrow(/^stored rules: /)
})
