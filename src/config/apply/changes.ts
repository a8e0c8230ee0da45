import { isDeepStrictEqual } from 'node:util'
import { maskUrlInLog } from '../../networks/mask-url.ts'
import type { EntryKind } from './entries-store.ts'

/** The effect of the configuration on one stored record, in a form that logs may show: urls are masked. */
export interface ConfigChange {
  readonly kind: 'created' | 'updated' | 'restored' | 'removed'
  readonly what: EntryKind
  readonly id: string
  /** The fields that an update changed. */
  readonly fields: readonly FieldChange[]
}

/** One changed field, with both values as logs may show them. */
export interface FieldChange {
  readonly field: string
  readonly from: string
  readonly to: string
}

/** Returns the fields in which two records differ, in the order of `after`. */
export function fieldChanges(before: object, after: object): FieldChange[] {
  const old: Record<string, unknown> = { ...before }
  const now: Record<string, unknown> = { ...after }
  return [...new Set([...Object.keys(now), ...Object.keys(old)])]
    .filter((field) => !isDeepStrictEqual(old[field], now[field]))
    .map((field) => ({ field, from: show(old[field]), to: show(now[field]) }))
}

/** Describes the change in one sentence. */
export function describeChange({ kind, what, id, fields }: ConfigChange): string {
  const details = fields.map(({ field, from, to }) =>
    from === to ? `${field} changed` : `${field} from ${from} to ${to}`,
  )
  return `${what} "${id}" ${kind}${details.length > 0 ? `: ${details.join(', ')}` : ''}`
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  return JSON.stringify(value, (_key, inner) => {
    if (typeof inner === 'bigint') return inner.toString()
    return typeof inner === 'string' && inner.includes('://') ? maskUrlInLog(inner) : inner
  })
}
