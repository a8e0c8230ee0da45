import { assertNever } from '../lib/assert-never.ts'
import type { AlertDetail, AlertKey, Finding, OpenAlert } from './alert.ts'

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
 * Decides which alerts begin and which end. An alert of which the look found nothing ends: its subject was deleted, or nobody asks to be warned of
 * it any more. Pure.
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
      return `Relayer ${detail.relayer_id} has no warn_balance any more, or was deleted.`
    case 'transaction_stuck':
      return `Transaction ${detail.transaction_id} does not block its account any more.`
    case 'relayer_disabled':
      return `Relayer ${detail.relayer_id} was enabled again, or deleted.`
    case 'endpoint_down':
      return `No relayer uses endpoint ${detail.endpoint} of network ${detail.network} any more.`
    case 'chain_halted':
      return `No relayer uses network ${detail.network} any more.`
    case 'budget_nearly_used':
      return 'The limit exists no more.'
    case 'delivery_dead':
      return `Notification ${detail.notification_id} has no dead letters any more.`
    default:
      return assertNever(kind)
  }
}
