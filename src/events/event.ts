/**
 * What needs a person's attention about a transaction. `transaction_undecided`: no endpoint can prove whether it was included ·
 * `transaction_stuck`: others of its account wait for it longer than is normal · `transaction_reorganized`: the block of a confirmed
 * transaction is gone.
 */
export type IncidentType = 'transaction_undecided' | 'transaction_stuck' | 'transaction_reorganized'

/** `transaction_update`: status or attempt · `relayer_state_update`: switched off or on · `notification_test`: asked for. */
export type EventType = 'transaction_update' | IncidentType | 'relayer_state_update' | 'notification_test'

/** Types whose payload is a snapshot of a transaction. */
export const TRANSACTION_EVENTS: readonly EventType[] = [
  'transaction_update',
  'transaction_undecided',
  'transaction_stuck',
  'transaction_reorganized',
]

/** An entry of the event log, without the snapshot that its payload is made of. */
export interface EventRecord {
  readonly id: bigint
  /** Position in the log: 1, 2, 3 … */
  readonly number: bigint
  /** Names the event to receivers; the same on every try. */
  readonly uid: string
  readonly type: EventType
  readonly relayerId?: string
  readonly transactionId?: string
  readonly notificationId?: string
  readonly createdAt: Date
}

/** Which events a reader wants. */
export interface EventFilter {
  readonly relayerId?: string | undefined
  readonly type?: EventType | undefined
}
