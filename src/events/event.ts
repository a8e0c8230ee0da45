import {
  ALL_RELAYERS,
  seesEverything,
  seesNetwork,
  seesRelayerId,
  type Visibility,
} from '../access/principal.ts'

/**
 * Incidents of transactions that need a person's attention. `transaction_undecided`: no endpoint can prove
 * whether it was included · `transaction_stuck`: it has blocked its account for too long ·
 * `transaction_reorganized`: the block of a confirmed transaction is no longer in the chain.
 */
export type IncidentType = 'transaction_undecided' | 'transaction_stuck' | 'transaction_reorganized'

/**
 * `transaction_update`: status or attempt changed · `relayer_state_update`: disabled or enabled · `schedule_update`: a schedule changed, or a
 * time of it was refused or skipped · `alert`: one has begun or is over ·
 * `notification_test`: a caller requested it.
 */
export type EventType =
  | 'transaction_update'
  | IncidentType
  | 'relayer_state_update'
  | 'schedule_update'
  | 'alert'
  | 'notification_test'

/** Types whose payload is a snapshot of a transaction. */
export const TRANSACTION_EVENTS: readonly EventType[] = [
  'transaction_update',
  'transaction_undecided',
  'transaction_stuck',
  'transaction_reorganized',
]

/** An entry of the event log, without the snapshot in its payload. */
export interface EventRecord {
  /** The position in the log. */
  readonly number: bigint
  /** The id for receivers; the same in every try. */
  readonly uid: string
  readonly type: EventType
  readonly relayerId?: string
  readonly transactionId?: string
  readonly notificationId?: string
  readonly createdAt: Date
}

/** Selects the events of a reader. */
export interface EventFilter {
  readonly relayerId?: string | undefined
  readonly transactionId?: string | undefined
  readonly type?: EventType | undefined
  /** Events of other relayers, and those without a relayer, are omitted. If absent, everything is visible. */
  readonly visibility?: Visibility | undefined
}

/** An entry of the event log with what filters compare. */
export interface LoggedEvent extends EventRecord {
  /** The bytes of its content. */
  readonly bytes: number
  /** The id under which callers know the relayer. Absent, like the network, if the event is about none. */
  readonly poolId?: string
  /** The network of the relayer, by type and name. */
  readonly networkId?: string
}

/**
 * Returns true if the reader may see the event and asks for it, as `readEvents` does in the database. Pure.
 */
export function selects(
  { relayerId, transactionId, type, visibility = ALL_RELAYERS }: EventFilter,
  event: LoggedEvent,
): boolean {
  return (
    (relayerId === undefined || event.poolId === relayerId) &&
    (transactionId === undefined || event.transactionId === transactionId) &&
    (type === undefined || event.type === type) &&
    (seesEverything(visibility) || isVisible(visibility, event))
  )
}

function isVisible(visibility: Visibility, { poolId, networkId }: LoggedEvent): boolean {
  if (poolId === undefined || networkId === undefined) return false
  return seesRelayerId(visibility, poolId) && seesNetwork(visibility, networkId)
}
