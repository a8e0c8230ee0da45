import { inspect } from 'node:util'

/**
 * Ends a `switch` over a union: a missing case does not compile, and a value from outside the union throws.
 */
export function assertNever(value: never): never {
  // Depth 0 hides what is nested: urls with credentials, for example.
  throw new Error(`unexpected value: ${inspect(value, { depth: 0 })}`)
}

/**
 * Reads a stored text that must be one of a fixed list.
 * @throws Error for another text: a value that this release does not know must not be taken for one that it
 * knows
 */
export function oneOf<const T extends string>(values: readonly T[], text: string, what: string): T {
  const value = values.find((one) => one === text)
  if (value === undefined)
    throw new Error(`stored ${what} "${text}" is unknown; known are ${values.join(', ')}`)
  return value
}
