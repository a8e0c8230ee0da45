import { FILTER_PARAMETERS } from './filter.ts'

/** A filter with a name. It is kept in this browser, as its parameters in the address. */
export interface SavedFilter {
  readonly name: string
  readonly query: Readonly<Record<string, string>>
}

const STORED = 'relayer-console-filters'

/** The most filters; with more, no one finds one among them. */
const MOST = 30

/** Reads the filters of this browser; none where it keeps nothing, or something else. */
export function readFilters(): readonly SavedFilter[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]')
    return Array.isArray(stored) ? stored.flatMap(readFilter).slice(0, MOST) : []
  } catch {
    return []
  }
}

function readFilter(stored: unknown): SavedFilter[] {
  const { name, query } = (stored ?? {}) as { readonly name?: unknown; readonly query?: unknown }
  if (typeof name !== 'string' || name === '' || typeof query !== 'object' || query === null) return []
  const known = Object.entries(query).filter(
    (entry): entry is [string, string] =>
      FILTER_PARAMETERS.includes(entry[0]) && typeof entry[1] === 'string',
  )
  return [{ name, query: Object.fromEntries(known) }]
}

/** Keeps the filters, and returns those that are kept. */
export function keepFilters(filters: readonly SavedFilter[]): readonly SavedFilter[] {
  const kept = filters.slice(-MOST)
  try {
    localStorage.setItem(STORED, JSON.stringify(kept))
  } catch {
    // A browser that keeps nothing shows them until the page is left.
  }
  return kept
}
