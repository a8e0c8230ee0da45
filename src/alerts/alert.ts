import { assertNever } from '../lib/exhaustive.ts'
import { fingerprintOf } from '../lib/hash.ts'

/**
 * The kinds of alerts. `balance_low`: an account can spend less than the policy `warn_balance` · `token_balance_high`: it holds more of a fee
 * token than its `max_token_balance` · `transaction_stuck`: it blocks its account ·
 * `relayer_disabled`: a health check failed · `endpoint_down`: an endpoint was not usable for a minute · `chain_halted`: a network makes no blocks · `budget_nearly_used`: most of a
 * spending limit is used · `delivery_dead`: deliveries of a notification were given up.
 */
export const ALERT_KINDS = [
  'balance_low',
  'token_balance_high',
  'transaction_stuck',
  'relayer_disabled',
  'endpoint_down',
  'chain_halted',
  'budget_nearly_used',
  'delivery_dead',
] as const

/** A kind of alert. */
export type AlertKind = (typeof ALERT_KINDS)[number]

/**
 * The names of what an alert is about, as the database has them and as callers see them. Only those that
 * apply are there.
 */
interface AlertSubject {
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
  /** The ids of the notifications that got the event when it began, and will get the event when it ends. */
  readonly notifications: readonly string[]
}

/**
 * The result of one check. `firing` begins an alert, and `over` ends it. `unclear` leaves it unchanged: the
 * value is between the two thresholds, or unknown (I6).
 */
export interface Finding extends AlertKey {
  readonly state: 'firing' | 'unclear' | 'over'
  /** Default: the time of the look. */
  readonly since?: Date | undefined
  readonly detail: AlertDetail
  readonly notifications: readonly string[]
}

/** An alert that ends. */
export interface EndedAlert extends OpenAlert {
  readonly resolvedAt: Date
}

/** The alerts that begin and end with a look. */
export interface AlertChanges {
  readonly begun: readonly OpenAlert[]
  readonly ended: readonly EndedAlert[]
}

interface Look {
  /** The look has these results. Everything that can fire is among them. */
  readonly findings: readonly Finding[]
  /** The alerts that fire before it. */
  readonly open: readonly OpenAlert[]
  readonly now: Date
}

/**
 * Decides which alerts begin and which end. An alert without a finding ends: its subject, or the setting for
 * the warning, was deleted. Pure.
 */
export function decideChanges({ findings, open, now }: Look): AlertChanges {
  const found = new Map(findings.map((finding) => [nameOf(finding), finding]))
  const known = new Set(open.map(nameOf))
  return {
    begun: [...found.values()].flatMap((finding) =>
      finding.state === 'firing' && !known.has(nameOf(finding)) ? [begin(finding, now)] : [],
    ),
    ended: open.flatMap((alert) => {
      const finding = found.get(nameOf(alert))
      if (finding === undefined) return [end(alert, { ...alert.detail, message: endOf(alert) }, now)]
      return finding.state === 'over' ? [end(alert, finding.detail, now)] : []
    }),
  }
}

function nameOf({ kind, subject }: AlertKey): string {
  return `${kind} ${subject}`
}

function begin({ kind, subject, since, detail, notifications }: Finding, now: Date): OpenAlert {
  return { kind, subject, since: since ?? now, detail, notifications }
}

function end(alert: OpenAlert, detail: AlertDetail, now: Date): EndedAlert {
  return { ...alert, detail, resolvedAt: now }
}

/** Says why an alert has ended of which a look found nothing. */
function endOf({ kind, detail }: OpenAlert): string {
  switch (kind) {
    case 'balance_low':
      return `Relayer ${detail.relayer_id} no longer has a warn_balance, or was deleted.`
    case 'token_balance_high':
      return `Relayer ${detail.relayer_id} no longer has a max_token_balance for this token, or was deleted.`
    case 'transaction_stuck':
      return `Transaction ${detail.transaction_id} no longer blocks its account.`
    case 'relayer_disabled':
      return `Relayer ${detail.relayer_id} was enabled again, or deleted.`
    case 'endpoint_down':
      return `No relayer uses endpoint ${detail.endpoint} of network ${detail.network} any more.`
    case 'chain_halted':
      return `No relayer uses network ${detail.network} any more.`
    case 'budget_nearly_used':
      return 'This limit was removed.'
    case 'delivery_dead':
      return `Notification ${detail.notification_id} has no more dead letters.`
    default:
      return assertNever(kind)
  }
}

/** A notification that gets the alerts of every subject. */
export interface AlertReceiver {
  readonly id: string
  /** The kinds that it gets; all if absent. */
  readonly kinds?: readonly AlertKind[] | undefined
}

/** Addresses findings to the receivers of their kind as well. Pure. */
export function addressTo(findings: readonly Finding[], receivers: readonly AlertReceiver[]): Finding[] {
  return findings.map((finding) => {
    const further = receivers.flatMap(({ id, kinds }) => (kinds?.includes(finding.kind) === false ? [] : id))
    return { ...finding, notifications: [...new Set([...finding.notifications, ...further])] }
  })
}

/** The number of hexadecimal digits of an alert's id: 128 bits, so that no two alerts share one. */
const ID_DIGITS = 32

/** Returns the id of an alert: the same for its beginning and its end, and when it fires again. */
function idOf({ kind, subject }: AlertKey): string {
  return fingerprintOf([kind, subject]).slice(0, ID_DIGITS)
}

/** The payload of an event, as it is stored and as callers see it. */
export interface AlertNotice extends AlertDetail {
  readonly alert: AlertKind
  readonly alert_id: string
  readonly state: 'firing' | 'resolved'
  readonly since: string
  /** Absent while it fires. */
  readonly resolved_at?: string
}

/** Reports that an alert began. */
export function beginNotice(alert: OpenAlert): AlertNotice & { readonly state: 'firing' } {
  const { kind, since, detail } = alert
  return { alert: kind, alert_id: idOf(alert), state: 'firing', since: since.toISOString(), ...detail }
}

/** Reports that an alert ended. */
export function endNotice(alert: EndedAlert): AlertNotice {
  const { kind, since, resolvedAt, detail } = alert
  return {
    alert: kind,
    alert_id: idOf(alert),
    state: 'resolved',
    since: since.toISOString(),
    resolved_at: resolvedAt.toISOString(),
    ...detail,
  }
}
