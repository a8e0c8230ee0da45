import type { AlertDetail, AlertKind, OpenAlert } from './alert.ts'
import type { EndedAlert } from './decide-changes.ts'

/** The payload of an event, as it is stored and as callers see it. */
export interface AlertNotice extends AlertDetail {
  readonly alert: AlertKind
  readonly state: 'firing' | 'resolved'
  readonly since: string
  /** Absent while it fires. */
  readonly resolved_at?: string
}

/** Tells that an alert has begun. */
export function beginNotice({ kind, since, detail }: OpenAlert): AlertNotice & { readonly state: 'firing' } {
  return { alert: kind, state: 'firing', since: since.toISOString(), ...detail }
}

/** Tells that an alert is over. */
export function endNotice({ kind, since, resolvedAt, detail }: EndedAlert): AlertNotice {
  return {
    alert: kind,
    state: 'resolved',
    since: since.toISOString(),
    resolved_at: resolvedAt.toISOString(),
    ...detail,
  }
}
