/**
 * The kinds of alerts. `balance_low`: an account can spend less than the policy `warn_balance` · `transaction_stuck`: it blocks its account ·
 * `relayer_disabled`: a health check failed · `endpoint_down`: an endpoint was not usable for a minute · `chain_halted`: a network makes no blocks · `budget_nearly_used`: most of a
 * spending limit is used · `delivery_dead`: deliveries of a notification were given up.
 */
export type AlertKind =
  | 'balance_low'
  | 'transaction_stuck'
  | 'relayer_disabled'
  | 'endpoint_down'
  | 'chain_halted'
  | 'budget_nearly_used'
  | 'delivery_dead'

/** The names of what an alert is about, as the database has them and as callers see them. Only those that apply are there. */
export interface AlertSubject {
  readonly network?: string
  readonly relayer_id?: string
  readonly transaction_id?: string
  readonly notification_id?: string
  readonly api_key_id?: string
  /** The url of an endpoint without the part in which providers put their keys. */
  readonly endpoint?: string
}

/** The details of an alert that fires, as the database stores them and callers see them. */
export interface AlertDetail extends AlertSubject {
  /** A sentence for a person, with what to do next. */
  readonly message: string
  /** The number that was measured, in decimal digits. */
  readonly value?: string
  /** The number with which it was compared, in decimal digits. */
  readonly threshold?: string
}

/** Names one alert among all. */
export interface AlertKey {
  readonly kind: AlertKind
  /** Names the subject among all of the kind. It does not change while the alert fires. */
  readonly subject: string
}

/** An alert that fires. */
export interface OpenAlert extends AlertKey {
  readonly since: Date
  readonly detail: AlertDetail
  /** The ids of the notifications that got the event of its begin, and get that of its end. */
  readonly notifications: readonly string[]
}

/**
 * One look at a subject has this result. `firing` begins an alert, and `over` ends it. `unclear` leaves it as it is: the value is between the two
 * thresholds, or nobody knows it (I6).
 */
export interface Finding extends AlertKey {
  readonly state: 'firing' | 'unclear' | 'over'
  /** Default: the time of the look. */
  readonly since?: Date | undefined
  readonly detail: AlertDetail
  readonly notifications: readonly string[]
}
