import { fingerprintOf } from '../../lib/fingerprint.ts'

/** A list of the file beside what it was when it was last applied. */
export interface Comparison<T> {
  /** New, or no longer as they were. */
  readonly changed: readonly T[]
  readonly unchanged: readonly T[]
  /** Ids of entries that the file no longer has. */
  readonly gone: readonly string[]
  /** What is to be remembered as applied, by id. */
  readonly entries: ReadonlyMap<string, string>
}

/** Compares by fingerprint: nothing of an entry itself is kept. */
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
