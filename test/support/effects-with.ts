import type { Effects } from '../../src/chains/effects.ts'

/** Effects of content that does nothing but this. */
export function effectsWith(change: Partial<Effects> = {}): Effects {
  return {
    receivers: [],
    contracts: [],
    selectors: [],
    operations: [],
    amounts: [],
    unread: [],
    ...change,
  }
}
