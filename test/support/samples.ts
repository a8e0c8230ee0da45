import type { Actor } from '../../src/access/principal.ts'
import type { Effects } from '../../src/chains/effects.ts'

/** The sender of a test. */
export const ACTOR: Actor = { keyId: 'root', address: '203.0.113.7', requestId: 'request-1' }

/** A cancellation by the sender of a test. */
export const CANCELS = { actor: ACTOR, action: 'cancelTransaction' } as const

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
