import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeRules, encodeRules } from '../../src/spending/read-rules.ts'
import {
  type ApprovalThreshold,
  PERIODS,
  type SpendingLimit,
  type SpendingRules,
  WEEKDAYS,
} from '../../src/spending/rules.ts'
import { TOKEN } from './build.ts'

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
