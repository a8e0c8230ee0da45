import type { Effects } from '../../src/chains/effects.ts'

/** Effects of content that does nothing but this. */
export function effectsWith(change: Partial<Effects> = {}): Effects {
  return {
    receivers: [],
    contracts: [],
    selectors: [],
    operations: [],
    amounts: [],
    allowances: [],
    unread: [],
    ...change,
  }
}

/** The same when the amounts are only allowances. */
export function allowing(effects: Partial<Effects>): Partial<Effects> {
  return { ...effects, allowances: effects.amounts ?? [] }
}
