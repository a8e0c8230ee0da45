import { describe, expect, test } from 'vitest'
import {
  type Charge,
  type Spent,
  type SpentIn,
  spentOf as splitCharge,
  ZERO_SPENT,
} from '../../src/spending/budget.ts'
import { askedBy } from '../../src/spending/limits.ts'
import { evaluateRules } from '../../src/spending/rule-table.ts'
import type { SpendingLimit, SpendingRules } from '../../src/spending/rules.ts'
import { NETWORK, spenderWith, spentOf, TOKEN } from './build.ts'

const DAY: SpendingLimit = { per: 'day', asset: 'native' }

const chargeWith = (change: Partial<Charge> = {}): Charge => ({
  network: NETWORK,
  amounts: [{ asset: 'native', value: 10n }],
  fees: 5n,
  ...change,
})

function evaluate(limits: readonly SpendingLimit[], charge: Charge, spentIn: SpentIn) {
  return evaluateRules('charge', spenderWith({ limits }), { charge, spentIn, mostOf: () => ZERO_SPENT })
}

interface Case {
  readonly limit: SpendingLimit
  readonly spent?: Spent
  readonly charge?: Charge
}

/** The rules that refuse. */
function refusing({ limit, spent = ZERO_SPENT, charge = chargeWith() }: Case): string[] {
  return evaluate([limit], charge, () => spent)
    .filter(({ allowed }) => !allowed)
    .map(({ rule }) => rule)
}

describe('a limit', () => {
  test.each<[string, Case, readonly string[]]>([
    ['of value allows all of it', { limit: { ...DAY, value: 10n } }, []],
    ['of value refuses one more', { limit: { ...DAY, value: 9n } }, ['limits[0].value']],
    ['of value counts what was spent', { limit: { ...DAY, value: 30n }, spent: spentOf(20) }, []],
    [
      'of value refuses beyond it',
      { limit: { ...DAY, value: 30n }, spent: spentOf(21) },
      ['limits[0].value'],
    ],
    ['of fees allows all of them', { limit: { ...DAY, fees: 5n } }, []],
    ['of fees refuses one more', { limit: { ...DAY, fees: 5n }, spent: spentOf(0, 1) }, ['limits[0].fees']],
    ['of the count allows the last', { limit: { ...DAY, count: 3 }, spent: spentOf(0, 0, 2) }, []],
    [
      'of the count refuses one more',
      { limit: { ...DAY, count: 3 }, spent: spentOf(0, 0, 3) },
      ['limits[0].count'],
    ],
    ['of nothing refuses everything', { limit: { ...DAY, count: 0 } }, ['limits[0].count']],
    [
      'of all three gives each its own answer',
      { limit: { ...DAY, value: 9n, fees: 5n, count: 0 } },
      ['limits[0].value', 'limits[0].count'],
    ],
    [
      'of a transaction does not count what was spent',
      { limit: { per: 'transaction', asset: 'native', value: 10n, fees: 5n }, spent: spentOf(99, 99, 99) },
      [],
    ],
    [
      'of a transaction refuses a larger one',
      { limit: { per: 'transaction', asset: 'native', value: 9n, fees: 4n } },
      ['limits[0].value', 'limits[0].fees'],
    ],
    ['of another network does not matter', { limit: { ...DAY, network: 'evm:mainnet', value: 0n } }, []],
    ['of this network does', { limit: { ...DAY, network: NETWORK, value: 0n } }, ['limits[0].value']],
    ['of another asset does not matter', { limit: { ...DAY, asset: TOKEN, value: 0n } }, []],
    [
      'of a token counts the token alone',
      {
        limit: { ...DAY, asset: TOKEN, value: 7n },
        charge: chargeWith({ amounts: [{ asset: TOKEN, value: 8n }] }),
      },
      ['limits[0].value'],
    ],
    [
      'that was lowered below what was spent refuses',
      { limit: { ...DAY, count: 1 }, spent: spentOf(0, 0, 5) },
      ['limits[0].count'],
    ],
  ])('%s', (_what, given, refused) => {
    expect(refusing(given)).toEqual(refused)
  })
})

test('a refusal names the limit, its owner, what is left and what is needed', () => {
  const details = (limit: SpendingLimit, spent: Spent) =>
    evaluate([limit], chargeWith(), () => spent).map(({ detail }) => detail)
  expect(details({ ...DAY, value: 15n, count: 2 }, spentOf(8, 0, 3))).toEqual([
    'Rule limits[0].value of API key one: value up to 15 per day on evm:testnet; 7 is left, and this transaction needs up to 10.',
    'Rule limits[0].count of API key one: transactions up to 2 per day on evm:testnet; 0 is left, and this transaction needs up to 1.',
  ])
  expect(details({ ...DAY, asset: TOKEN, value: 15n }, ZERO_SPENT)).toEqual([
    `Rule limits[0].value of API key one: value of ${TOKEN} up to 15 per day on evm:testnet; 15 is left, and this transaction needs up to 0.`,
  ])
})

test('a limit asks for its own period and asset', () => {
  const asked: unknown[] = []
  const limits: SpendingLimit[] = [
    { per: 'hour', asset: TOKEN, value: 1n },
    { per: 'month', asset: 'native', value: 1n },
  ]
  const spentIn = (...question: unknown[]) => {
    asked.push(question)
    return ZERO_SPENT
  }
  evaluate(limits, chargeWith(), spentIn)
  expect(asked).toEqual([
    [{ subject: 'key:one', network: NETWORK, asset: TOKEN }, 'hour'],
    [{ subject: 'key:one', network: NETWORK, asset: 'native' }, 'month'],
  ])
})

test('a charge has the fees and the count with the native currency, also when it moves none', () => {
  const amounts = [{ asset: TOKEN, value: 3n }]
  expect([...splitCharge(chargeWith({ amounts }))]).toEqual([
    ['native', spentOf(0, 5, 1)],
    [TOKEN, spentOf(3)],
  ])
  expect([...splitCharge(chargeWith())]).toEqual([['native', spentOf(10, 5, 1)]])
})

test('each rolling limit of the network asks for its sum, and a limit of a transaction for none', () => {
  const rules: SpendingRules = {
    limits: [
      { ...DAY, value: 1n },
      { per: 'transaction', asset: 'native', value: 1n },
      { ...DAY, network: 'evm:mainnet', value: 1n },
      { ...DAY, network: NETWORK, asset: TOKEN, value: 1n },
      { per: 'hour', asset: 'native', value: 1n },
    ],
  }
  const counter = { subject: 'key:one', network: NETWORK, asset: 'native' }
  expect(askedBy([spenderWith(rules)], NETWORK)).toEqual([
    { counter, period: 'day' },
    { counter: { ...counter, asset: TOKEN }, period: 'day' },
    { counter, period: 'hour' },
  ])
})
