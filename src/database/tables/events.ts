import type { Generated, JSONColumnType } from 'kysely'

/** Events, written in the database transaction of the change (I8). */
export interface EventsTable {
  /** The id for receivers. */
  uid: Generated<string>
  /**
   * The order of writing. A writer that failed leaves a gap, and database transactions may commit in another
   * order.
   */
  number: Generated<bigint>
  /** The notification that the relayer had when the event happened. */
  notification_id: string | null
  /** Null for a test event, and for an alert that is not about one relayer. */
  relayer_id: string | null
  transaction_id: string | null
  type: string
  payload: JSONColumnType<object>
  created_at: Generated<Date>
}

/**
 * Alerts that fire: the row is written with the event of its begin, and deleted with the event of its end.
 */
export interface AlertsTable {
  kind: string
  /** Names what it is about among all alerts of the kind. */
  subject: string
  since: Date
  /** Null if it is not about one relayer. */
  relayer_id: string | null
  /** The ids of the notifications that got the event. */
  notifications: JSONColumnType<string[]>
  /** Shown to callers, besides its kind and its time. */
  detail: JSONColumnType<object>
}

/** States that make an alert begin or end when they last. */
export interface WatchedStatesTable {
  kind: string
  subject: string
  state: string
  since: Date
  seen_at: Date
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

/** The place of each notification in the event log. A trigger adds the row with the notification. */
export interface DeliveryCursorsTable {
  notification_id: string
  /**
   * Every event of the notification up to this number has a row in `deliveries`. Later ones without a row
   * were never tried.
   */
  event_number: bigint
  /**
   * The time from which deliveries without a row are tried, when it is later than their event: the end of the
   * last pause.
   */
  window_from: Date | null
  /** Distinguishes the notification from an earlier one with the same id. */
  created_at: Generated<Date>
}

/** Tickets for event streams that were not used yet. */
export interface StreamTicketsTable {
  /** The SHA-256 of the ticket, which itself is never stored. */
  hash: Uint8Array
  /** The API key that requested it; `root` for that of the environment. */
  caller: string
  /** The stream has only events of this relayer; null for those of all. */
  relayer_id: string | null
  /** The stream has only events of this type; null for those of all. */
  event_type: string | null
  expires_at: Date
}

/** The numbers of deliveries, as the triggers of `deliveries` write them. */
export interface DeliveryCountsTable {
  notification_id: string
  status: string
  /** A change of the number, or the sum of some. */
  count: bigint
}

/**
 * One event for one notification, from the result of its first attempt on. Its id is derived from these two
 * (`deliveryId`).
 */
export interface DeliveriesTable {
  notification_id: string
  event_number: bigint
  /** Deliveries of one ordering key arrive in the order of their events. */
  ordering_key: string
  /** `waiting` for an earlier one of its ordering key · `pending`: tried again at `next_try_at` · `delivered` · `dead`. */
  status: string
  tries: Generated<number>
  /** After a failure past this time, there is no further try. Null when it arrived at the first try. */
  give_up_at: Date | null
  next_try_at: Date | null
  tried_at: Date | null
  settled_at: Date | null
  /** Request and answer of the newest try. */
  last_try: JSONColumnType<object> | null
}
