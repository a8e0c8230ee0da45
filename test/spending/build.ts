import type { Effects } from '../../src/chains/effects.ts'
import type { Spent } from '../../src/spending/budget.ts'
import type { Subject } from '../../src/spending/rule.ts'
import type { Spender, SpendingRules } from '../../src/spending/rules.ts'
import { effectsWith } from '../support/samples.ts'

export const NETWORK = 'evm:testnet'

/** A token, in lower case. */
export const TOKEN = `0x${'70'.repeat(20)}`

/** The API key `one` with these rules. */
export function spenderWith(rules: SpendingRules): Spender {
  return { subject: 'key:one', rules }
}

/** A request with these effects, on a Wednesday at noon. */
export function subjectOf(effects: Partial<Effects> = {}, change: Partial<Subject> = {}): Subject {
  return {
    effects: effectsWith(effects),
    network: NETWORK,
    now: new Date('2026-07-01T12:00:00Z'),
    hasIdempotencyKey: true,
    ...change,
  }
}

/** Amounts in the order value, fees, count. */
export function spentOf(value: bigint | number, fees: bigint | number = 0, count = 0): Spent {
  return { value: BigInt(value), fees: BigInt(fees), count }
}
