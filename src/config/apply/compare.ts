import { fingerprintOf } from '../../lib/fingerprint.ts'

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
