type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** Removes the fields that are `undefined`, because absent fields are omitted on the wire. */
export function omitUndefined<T extends object>(object: T): Defined<T> {
  return mapFields(object, (value) => value) as Defined<T>
}

/**
 * Converts the fields of an object to those of a new one, in the given order (default: their own). Fields
 * that are undefined are left out, and so are names that the object does not have. A loop, because rows and
 * payloads go through it by the thousand, and a list of entries of each would be most of the garbage of a
 * load.
 */
export function mapFields(
  object: object,
  convert: (value: unknown) => unknown,
  names: readonly string[] = Object.keys(object),
): Record<string, unknown> {
  const fields = object as Readonly<Record<string, unknown>>
  const mapped: Record<string, unknown> = {}
  for (const name of names) {
    const value = fields[name]
    if (value !== undefined) setField(mapped, name, convert(value))
  }
  return mapped
}

/** An assignment to `__proto__` would change the prototype instead. */
function setField(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true })
}

/**
 * Freezes a value and everything inside it. A part that is frozen already is skipped, so shared parts cost
 * nothing.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) deepFreeze(inner)
  return value
}

/** Divides a list into slices of at most this many items, in order. An empty list has none. */
export function slicesOf<T>(items: readonly T[], maxItems: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / maxItems) }, (_, index) =>
    items.slice(index * maxItems, (index + 1) * maxItems),
  )
}
