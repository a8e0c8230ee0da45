/** What stands for everything beyond the limit. */
export const OTHER = 'other'

/** Different values of a label that keep their names. Each makes series of its own, in memory here and in Prometheus. */
const MAX_VALUES = 100

/**
 * A label whose values come from a configuration or a database and may be many: the first hundred keep their names, for as long
 * as the process lives, and all others are one.
 */
export function createBoundedLabel(limit: number = MAX_VALUES): (value: string) => string {
  const known = new Set<string>()
  return (value) => {
    if (known.has(value)) return value
    if (known.size >= limit) return OTHER
    known.add(value)
    return value
  }
}

/** A label with values that are known beforehand. */
export function createFixedLabel(values: readonly string[]): (value: string) => string {
  const known = new Set(values)
  return (value) => (known.has(value) ? value : OTHER)
}
