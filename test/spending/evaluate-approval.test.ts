import { describe, expect, test } from 'vitest'
import type { Effects } from '../../src/chains/effects.ts'
import { evaluateApproval } from '../../src/spending/evaluate-approval.ts'
import type { SpendingRules } from '../../src/spending/rules.ts'
import { effectsWith } from '../support/effects-with.ts'
import { NETWORK, spenderWith, TOKEN } from './build.ts'

const [A, B, C, D] = ['aa', 'bb', 'cc', 'dd'].map((byte) => `0x${byte.repeat(20)}`) as [
  string,
  string,
  string,
  string,
]

/** The reasons for which content waits. A is the only known receiver. */
function reasons(rules: SpendingRules, effects: Partial<Effects>, network = NETWORK): string[] {
  const isKnown = (receiver: string) => receiver === A
  return evaluateApproval(spenderWith(rules), { effects: effectsWith(effects), network, isKnown }).map(
    ({ rule }) => rule,
  )
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
  const [result] = evaluateApproval(spenderWith(RECEIVERS), {
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
