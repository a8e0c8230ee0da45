import type { Actor } from '../../src/access/principal.ts'

/** The sender of a test. */
export const ACTOR: Actor = { keyId: 'root', address: '203.0.113.7', requestId: 'request-1' }

/** A cancellation by the sender of a test. */
export const CANCELS = { actor: ACTOR, action: 'cancelTransaction' } as const
