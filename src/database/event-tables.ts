import type { Generated, JSONColumnType } from 'kysely'

/** Events, written in the database transaction of the change (I8). */
export interface EventsTable {
  /** The order of writing. Database transactions may commit in another order, so readers use `number`. */
  id: Generated<bigint>
  /** The id for receivers. */
  uid: Generated<string>
  /** The order for readers, without gaps; null until the first read after the commit. */
  number: bigint | null
  /** The notification that the relayer had when the event happened. */
  notification_id: string | null
  /** Null for a test event, which has no relayer. */
  relayer_id: string | null
  transaction_id: string | null
  type: string
  payload: JSONColumnType<object>
  created_at: Generated<Date>
}

/** A table with one row. Its lock is the right to number events. */
export interface EventLogTable {
  only_row: Generated<boolean>
  last_number: bigint
  /** Deliveries exist for the events up to this number. */
  relayed_number: bigint
}

/** Signing keys, newest last. An older key signs until it expires. */
export interface NotificationKeysTable {
  id: Generated<bigint>
  notification_id: string
  /** `config` or `api`. */
  source: string
  sealed: Uint8Array
  created_at: Generated<Date>
  expires_at: Date | null
}

/** One event for one notification. */
export interface DeliveriesTable {
  id: string
  notification_id: string
  event_id: bigint
  event_number: bigint
  /** Deliveries of one ordering key arrive in the order of their events. */
  ordering_key: string
  /** `waiting` for an earlier one of its ordering key · `pending`: has a job · `delivered` · `dead`. */
  status: string
  tries: Generated<number>
  /** After a failure past this time, there is no further try. */
  give_up_at: Date
  next_try_at: Date | null
  created_at: Generated<Date>
  tried_at: Date | null
  settled_at: Date | null
  /** Request and answer of the newest try. */
  last_try: JSONColumnType<object> | null
}
