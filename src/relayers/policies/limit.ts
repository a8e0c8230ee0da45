/** The way in which a policy limits a relayer. It decides whether one value is at most as wide as another. */
export interface Limit<T> {
  isWithin(value: T, ceiling: T): boolean
  /** An absent value is stricter than every other one, so a ceiling without the policy allows no value. */
  readonly strictestIsAbsent?: true
  /** Describes the values within a ceiling, for the person who chose another one. */
  describe(ceiling: T): string
}

/** A list in a message names this many items. */
const MOST_NAMED = 20

/** A policy that chooses a behaviour. No value of it allows more than another. */
export const NO_LIMIT = 'none'

/** A number that is stricter when it is lower. */
export const atMost = {
  isWithin: (value, ceiling) => value <= ceiling,
  describe: (ceiling) => `at most ${ceiling} is expected`,
} satisfies Limit<bigint | number>

/** A number that is stricter when it is higher. */
export const atLeast = {
  isWithin: (value, floor) => value >= floor,
  describe: (floor) => `at least ${floor} is expected`,
} satisfies Limit<bigint | number>

/** A number that is stricter when it is higher, and strictest when it is absent. */
export const atLeastOrAbsent: Limit<number> = { ...atLeast, strictestIsAbsent: true }

/** A permission, which is stricter when it is false. */
export const permission: Limit<boolean> = {
  isWithin: (value, ceiling) => ceiling || !value,
  describe: () => 'false is expected',
}

/** An obligation, which is stricter when it is true. */
export const obligation: Limit<boolean> = {
  isWithin: (value, floor) => value || !floor,
  describe: () => 'true is expected',
}

/** A list of what is allowed, which is stricter when it is shorter. */
export const subset: Limit<readonly string[]> = {
  isWithin: (value, ceiling) => includesAll(ceiling, value),
  describe: (ceiling) => `only items of this list are expected: ${nameItems(ceiling)}`,
}

/** A list of allowed values, in which `*` means everything. Absent is the strictest. */
export const subsetOrAny: Limit<readonly string[]> = {
  ...subset,
  isWithin: (value, ceiling) => ceiling.includes('*') || subset.isWithin(value, ceiling),
  strictestIsAbsent: true,
}

/** A list of what is forbidden, which is stricter when it is longer. */
export const superset: Limit<readonly string[]> = {
  isWithin: (value, floor) => includesAll(value, floor),
  describe: (floor) => `a list with these items is expected: ${nameItems(floor)}`,
}

/**
 * One of several words, each with those that are at most as wide: of two words, either may allow what the
 * other one does not.
 */
export function widening<const T extends string>(within: Readonly<Record<T, readonly T[]>>): Limit<T> {
  return {
    isWithin: (value, ceiling) => within[ceiling].includes(value),
    describe: (ceiling) => `one of ${within[ceiling].join(', ')} is expected`,
  }
}

function includesAll(list: readonly string[], items: readonly string[]): boolean {
  const known = new Set(list)
  return items.every((item) => known.has(item))
}

/** Names the items of a list for a message. */
export function nameItems(items: readonly string[]): string {
  if (items.length === 0) return 'none'
  const rest = items.length - MOST_NAMED
  return `${items.slice(0, MOST_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
