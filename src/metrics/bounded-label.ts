/** The label of all values beyond the limit. */
export const OTHER = 'other'

/** The number of different values of a label that keep their names. Each value creates series in memory, here and in Prometheus. */
const MAX_VALUES = 100

/**
 * Limits a label whose values come from the configuration or the database and may be many. The first hundred values keep their names for the
 * life of the process; all others become `other`.
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

/** The bounded labels that several metrics share: a relayer that has its name in one metric has it in all. */
export interface Labels {
  readonly relayer: (id: string) => string
  readonly network: (name: string) => string
}

/** Creates the shared labels. */
export function createLabels(): Labels {
  return { relayer: createBoundedLabel(), network: createBoundedLabel() }
}

/** Limits a label to values that are known in advance. */
export function createFixedLabel(values: readonly string[]): (value: string) => string {
  const known = new Set(values)
  return (value) => (known.has(value) ? value : OTHER)
}
