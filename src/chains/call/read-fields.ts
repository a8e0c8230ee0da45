import { CallProblem } from './problem.ts'

/** The expected fields of an object. */
export interface ExpectedFields {
  readonly names: readonly string[]
  /** Returns true for a name that the object may leave out. Default: none. */
  readonly mayLack?: (name: string) => boolean
}

/**
 * Returns the fields of a JSON object in the order of the names; undefined for one that is left out.
 * @throws CallProblem for another value, a missing field, and a field that is not among the names
 */
export function readFields(value: unknown, path: string, { names, mayLack }: ExpectedFields): unknown[] {
  const fields = readObject(value, path)
  const expected = new Set(names)
  if (Object.keys(fields).some((field) => !expected.has(field)))
    throw new CallProblem(
      path,
      names.length === 0 ? 'expected no fields' : `expected the fields ${listOf(names)}, and no others`,
    )
  return names.map((name) => {
    if (Object.hasOwn(fields, name)) return fields[name]
    if (mayLack?.(name) === true) return undefined
    throw new CallProblem(`${path}.${name}`, 'is required')
  })
}

/**
 * Returns a JSON object.
 * @throws CallProblem for any other value
 */
export function readObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>
  throw new CallProblem(path, 'expected an object')
}

/**
 * Returns a JSON list.
 * @throws CallProblem for any other value, and for a list of another length than `length`
 */
export function readList(value: unknown, path: string, length?: number): readonly unknown[] {
  if (Array.isArray(value) && (length === undefined || value.length === length)) return value
  throw new CallProblem(path, `expected a list${length === undefined ? '' : ` of ${length} values`}`)
}

/** A sentence has this many names at most. */
const MOST_NAMED = 10

/** Lists names for a sentence. */
export function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const named = names.slice(0, MOST_NAMED).join(', ')
  return names.length > MOST_NAMED ? `${named} and others` : named
}
