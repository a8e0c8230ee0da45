import { describe, expect, test } from 'vitest'
import type { Effects } from '../../src/chains/effects.ts'
import { evaluateRules } from '../../src/spending/rule-table.ts'
import type { SpendingHours, SpendingRules } from '../../src/spending/rules.ts'
import { effectsWith } from '../support/samples.ts'
import { NETWORK, spenderWith, subjectOf, TOKEN } from './build.ts'

/** The rules that refuse, by name. */
function refusing(rules: SpendingRules, ...subject: Parameters<typeof subjectOf>): string[] {
  return evaluateRules('content', spenderWith(rules), subjectOf(...subject))
    .filter(({ allowed }) => !allowed)
    .map(({ rule }) => rule)
}

const [A, B] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`]

const LISTS: readonly [keyof SpendingRules, (item: string) => Partial<Effects>][] = [
  ['receivers', (item) => ({ receivers: [item] })],
  ['contracts', (item) => ({ contracts: [item] })],
  ['selectors', (item) => ({ selectors: [item] })],
  ['operations', (item) => ({ operations: [item] })],
  ['assets', (item) => ({ amounts: [{ asset: item, value: 1n }] })],
]

describe.each(LISTS)('the list of %s', (rule, using) => {
  test.each<[string, SpendingRules, Partial<Effects>, readonly string[]]>([
    ['allows what it names', { [rule]: [A] }, using(A), []],
    ['refuses what it does not name', { [rule]: [A] }, using(B), [rule]],
    ['refuses everything when it is empty', { [rule]: [] }, using(A), [rule]],
    ['allows content without any', { [rule]: [] }, {}, []],
    ['allows everything when it is absent', {}, using(B), []],
  ])('%s', (_what, rules, effects, refused) => {
    expect(refusing(rules, effects)).toEqual(refused)
  })
})

test('a refusal names the rule, its owner, and at most three of what is unknown', () => {
  const receivers = [A, '1', '2', '3', '4']
  const [result] = evaluateRules('content', spenderWith({ receivers: [A] }), subjectOf({ receivers }))
  expect(result).toEqual({
    subject: 'key:one',
    rule: 'receivers',
    allowed: false,
    detail: 'Rule receivers of API key one: 1, 2, 3 is not among the receivers.',
  })
})

test('every rule gives its own result', () => {
  const rules = { receivers: [], assets: [], idempotency: 'required' } as const
  const effects = { receivers: [A], amounts: [{ asset: 'native', value: 1n }] }
  const refused = refusing(rules, effects, { hasIdempotencyKey: false })
  expect(refused).toEqual(['receivers', 'assets', 'idempotency'])
})

const limitOf = (asset: string, network?: string): SpendingRules => ({
  limits: [{ per: 'day', asset, value: 1n, ...(network === undefined ? {} : { network }) }],
})

describe('a call that cannot be read', () => {
  const ofToken = { unread: [{ target: TOKEN, asset: TOKEN }] }
  const ofAnything = { unread: [{ target: A }] }
  test.each<[string, SpendingRules, Partial<Effects>, readonly string[]]>([
    ['is allowed without rules about assets and receivers', { selectors: [] }, ofAnything, []],
    ['is refused by a list of receivers', { receivers: [A] }, ofToken, ['receivers']],
    ['is refused by a list of assets', { assets: [TOKEN] }, ofToken, ['assets']],
    ['is refused by a limit of its asset', limitOf(TOKEN), ofToken, ['limits']],
    ['is allowed by a limit of another asset', limitOf('native'), ofToken, []],
    ['is refused by a limit of any asset when it can move any', limitOf('native'), ofAnything, ['limits']],
    ['is allowed by a limit of another network', limitOf(TOKEN, 'evm:mainnet'), ofToken, []],
    ['is refused by a limit of its network', limitOf(TOKEN, NETWORK), ofToken, ['limits']],
    [
      'is allowed by a limit without a value',
      { limits: [{ per: 'day', asset: 'native', count: 1 }] },
      ofAnything,
      [],
    ],
    ['is allowed for a contract that is named', { ...limitOf(TOKEN), contracts: [TOKEN] }, ofToken, []],
    ['is refused for another contract', { ...limitOf(TOKEN), contracts: [A] }, ofToken, ['limits']],
    ['is allowed for an operation that is named', { assets: [], operations: [A] }, ofAnything, []],
    [
      'is refused when only one of two is named',
      { ...limitOf(TOKEN), contracts: [A] },
      { unread: [...ofAnything.unread, ...ofToken.unread] },
      ['limits'],
    ],
  ])('%s', (_what, rules, effects, refused) => {
    expect(refusing(rules, effects)).toEqual(refused)
  })
})

describe('hours', () => {
  // 2026-07-01 is a Wednesday, and 2026-07-05 a Sunday.
  test.each<[string, SpendingHours, string, boolean]>([
    ['begin at the first minute', { from: '08:00', to: '18:00' }, '2026-07-01T08:00:00.000Z', true],
    ['do not begin before', { from: '08:00', to: '18:00' }, '2026-07-01T07:59:59.999Z', false],
    ['last until the end', { from: '08:00', to: '18:00' }, '2026-07-01T17:59:59.999Z', true],
    ['end at the end', { from: '08:00', to: '18:00' }, '2026-07-01T18:00:00.000Z', false],
    ['hold before midnight', { from: '22:00', to: '06:00' }, '2026-07-01T23:59:00Z', true],
    ['hold after midnight', { from: '22:00', to: '06:00' }, '2026-07-01T05:59:00Z', true],
    ['end in the morning', { from: '22:00', to: '06:00' }, '2026-07-01T06:00:00Z', false],
    [
      'are a whole day when they end as they begin',
      { from: '09:00', to: '09:00' },
      '2026-07-01T08:59:00Z',
      true,
    ],
    ['hold on their day', { from: '08:00', to: '18:00', days: ['wednesday'] }, '2026-07-01T12:00:00Z', true],
    ['do not on another', { from: '08:00', to: '18:00', days: ['thursday'] }, '2026-07-01T12:00:00Z', false],
    ['end after the day', { from: '22:00', to: '06:00', days: ['tuesday'] }, '2026-07-01T05:00:00Z', true],
    [
      'begin with the day',
      { from: '22:00', to: '06:00', days: ['wednesday'] },
      '2026-07-01T05:00:00Z',
      false,
    ],
    ['go over the week', { from: '22:00', to: '06:00', days: ['saturday'] }, '2026-07-05T05:00:00Z', true],
    ['never hold without a day', { from: '00:00', to: '23:59', days: [] }, '2026-07-01T12:00:00Z', false],
  ])('%s', (_what, hours, now, allowed) => {
    expect(refusing({ hours }, {}, { now: new Date(now) })).toEqual(allowed ? [] : ['hours'])
  })
})

test.each<[SpendingRules['idempotency'], boolean, readonly string[]]>([
  ['required', true, []],
  ['required', false, ['idempotency']],
  ['optional', false, []],
  [undefined, false, []],
])('an idempotency key that is %s, and there: %s', (idempotency, hasIdempotencyKey, refused) => {
  const rules = idempotency === undefined ? {} : { idempotency }
  expect(refusing(rules, {}, { hasIdempotencyKey })).toEqual(refused)
})

test.each<[SpendingRules, boolean]>([
  [{}, false],
  [{ signatures: 'readable' }, false],
  [{ signatures: 'any' }, true],
])('rules %j allow signatures that cannot be decoded: %s', (rules, allowed) => {
  expect(evaluateRules('signature', spenderWith(rules), {})).toMatchObject([{ rule: 'signatures', allowed }])
})

describe('the need of an approval', () => {
  const [A, B, C, D] = ['aa', 'bb', 'cc', 'dd'].map((byte) => `0x${byte.repeat(20)}`) as [
    string,
    string,
    string,
    string,
  ]

  /** The reasons for which content waits. A is the only known receiver. */
  function reasons(rules: SpendingRules, effects: Partial<Effects>): string[] {
    const isKnown = (receiver: string) => receiver === A
    const reviewed = { effects: effectsWith(effects), network: NETWORK, isKnown }
    return evaluateRules('approval', spenderWith(rules), reviewed).map(({ rule }) => rule)
  }

  const moves = (asset: string, value: bigint) => ({ amounts: [{ asset, value }] })
  const above = (asset: string, value: bigint, network?: string): SpendingRules => ({
    require_approval: { above: [{ asset, value, ...(network === undefined ? {} : { network }) }] },
  })
  const RECEIVERS = { require_approval: { new_receivers: true } }
  const ofToken = { unread: [{ target: TOKEN, asset: TOKEN }] }
  const ofAnything = { unread: [{ target: B }] }
  const OVER = ['require_approval.above[0]']
  const NEW = ['require_approval.new_receivers']
  const UNREAD = ['require_approval']

  describe('content waits', () => {
    test.each<[string, SpendingRules, Partial<Effects>, readonly string[]]>([
      ['not without the rule', {}, { receivers: [B], ...ofAnything }, []],
      ['always when the rule names nothing', { require_approval: {} }, {}, UNREAD],
      [
        'always when the rule says no more than that',
        { require_approval: { new_receivers: false } },
        {},
        UNREAD,
      ],
      ['not at the amount', above('native', 100n), moves('native', 100n), []],
      ['above the amount', above('native', 100n), moves('native', 101n), OVER],
      ['above an amount beyond 2^64', above('native', 2n ** 127n), moves('native', 2n ** 127n + 1n), OVER],
      ['not for another asset', above(TOKEN, 100n), moves('native', 101n), []],
      ['not for the amount of another network', above('native', 1n, 'evm:mainnet'), moves('native', 2n), []],
      ['for the amount of its network', above('native', 1n, NETWORK), moves('native', 2n), OVER],
      ['not for a known receiver', RECEIVERS, { receivers: [A] }, []],
      ['for one new receiver among known ones', RECEIVERS, { receivers: [A, B] }, NEW],
      ['not without any receiver', RECEIVERS, moves('native', 1n), []],
      ['for a call that can pay anybody', RECEIVERS, ofToken, UNREAD],
      ['not for a call of a contract that is listed', { ...RECEIVERS, contracts: [TOKEN] }, ofToken, []],
      ['for a call that can move the asset', above(TOKEN, 1n), ofToken, UNREAD],
      ['for a call that can move any asset', above('native', 1n), ofAnything, UNREAD],
      ['not for a call that can move another asset only', above('native', 1n), ofToken, []],
      ['not for a call on another network', above(TOKEN, 1n, 'evm:mainnet'), ofToken, []],
      ['not for an operation that is listed', { ...above('native', 1n), operations: [B] }, ofAnything, []],
    ])('%s', (_what, rules, effects, expected) => {
      expect(reasons(rules, effects)).toEqual(expected)
    })
  })

  test('a result allows, asks for an approval, and names at most three receivers', () => {
    const effects = effectsWith({ receivers: [A, B, C, D, 'E'] })
    const [result] = evaluateRules('approval', spenderWith(RECEIVERS), {
      effects,
      network: NETWORK,
      isKnown: () => false,
    })
    expect(result).toEqual({
      subject: 'key:one',
      rule: 'require_approval.new_receivers',
      allowed: true,
      requiresApproval: true,
      detail: `Rule require_approval.new_receivers of API key one: no approved transaction has paid ${A}, ${B}, ${C} on ${NETWORK}.`,
    })
  })
})
