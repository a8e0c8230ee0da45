import { poolIdOf } from '../../relayers/accounts/pool.ts'

/**
 * Another transaction of the service that must reach a state before this one is signed. It is always older,
 * so no two wait for each other.
 */
export interface After {
  readonly transactionId: string
  readonly relayerId: string
  /** `final` is `confirmed` on a network where nothing else is confirmed. */
  readonly state: 'mined' | 'confirmed' | 'final'
  /** Decides about this one if the other one never reaches the state. */
  readonly onFailure: 'cancel' | 'send'
  /** When this one can no longer be sent; absent if it has no end. RFC 3339, as the index compares it. */
  readonly expiresAt?: string | undefined
}

/** The wait that a request asks for. */
export interface RequestedAfter extends After {
  /** The other transaction has reached the state already. */
  readonly isOver: boolean
}

/** Returns the `status_reason` while the transaction waits. Pure. */
export function afterReason({ transactionId, relayerId, state }: After): string {
  return `It waits until transaction ${transactionId} of relayer ${poolIdOf(relayerId)} is ${state}.`
}
