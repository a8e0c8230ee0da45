import { isDeepStrictEqual } from 'node:util'
import { ConfigError } from '../lib/fields.ts'
import { fingerprintOf } from '../lib/hash.ts'
import { maskUrl } from '../lib/http/mask-url.ts'
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
    return typeof inner === 'string' && inner.includes('://') ? maskUrl(inner) : inner
  })
}

/** The difference between a list of the file and the same list when it was last applied. */
export interface Comparison<T> {
  /** Entries that are new or different. */
  readonly changed: readonly T[]
  readonly unchanged: readonly T[]
  /** The ids of entries that the file no longer has. */
  readonly gone: readonly string[]
  /** The fingerprints to store as applied, by id. */
  readonly entries: ReadonlyMap<string, string>
}

/** Compares by fingerprint, so the database never holds the entries themselves. */
export function compareEntries<T extends { readonly id: string }>(
  wanted: readonly T[],
  applied: ReadonlyMap<string, string>,
): Comparison<T> {
  const entries = new Map(wanted.map((entry) => [entry.id, fingerprintOf(entry)]))
  const isUnchanged = ({ id }: T) => applied.get(id) === entries.get(id)
  return {
    changed: wanted.filter((entry) => !isUnchanged(entry)),
    unchanged: wanted.filter(isUnchanged),
    gone: [...applied.keys()].filter((id) => !entries.has(id)),
    entries,
  }
}

interface Question {
  readonly what: 'signer' | 'notification'
  /** Returns the ids of the relayers that refer to the record. */
  readonly usersOf: (id: string) => Promise<readonly string[]>
}

/** @throws ConfigError if relayers that callers created refer to one of these ids */
export async function refuseUsed(ids: readonly string[], { what, usersOf }: Question): Promise<void> {
  const problems: string[] = []
  for (const id of ids) {
    const users = await usersOf(id)
    const names = users.map((name) => `"${name}"`).join(', ')
    if (users.length > 0)
      problems.push(
        `${what} "${id}" cannot be removed: it is used by ${names}, created over the API; change that there first`,
      )
  }
  if (problems.length > 0) throw new ConfigError(problems)
}
