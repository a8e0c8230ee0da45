import { inspect } from 'node:util'

/** Ends a `switch` over a union: a missing case does not compile, and a value from outside the union throws. */
export function assertNever(value: never): never {
  // Depth 0 hides what is nested: urls with credentials, for example.
  throw new Error(`unexpected value: ${inspect(value, { depth: 0 })}`)
}
