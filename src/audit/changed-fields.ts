import { isDeepStrictEqual } from 'node:util'

/** The two states of a record that changed. */
interface Update<T> {
  readonly before: T
  readonly after: T
  /** Converts a state to the form that the log may show, without secrets and with the same names of fields. */
  readonly show: (state: T) => object
  /** Gives everything that can change, secrets included, by the same names; they are compared and not kept. Default: as `show`. */
  readonly compared?: (state: T) => object
}

/**
 * Gives the fields in which two states differ, as the log shows them. A field whose masked part alone changed is there, too, with the same
 * text on both sides.
 */
export function changedFields<T>({ before, after, show, compared = show }: Update<T>): {
  readonly before: object
  readonly after: object
} {
  const [old, now] = [fieldsOf(compared(before)), fieldsOf(compared(after))]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    (name) => !isDeepStrictEqual(old[name], now[name]),
  )
  return { before: pick(show(before), names), after: pick(show(after), names) }
}

function pick(state: object, names: readonly string[]): object {
  const fields = fieldsOf(state)
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  )
}

function fieldsOf(state: object): Readonly<Record<string, unknown>> {
  return { ...state }
}
