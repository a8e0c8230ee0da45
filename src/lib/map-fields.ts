/**
 * Converts the fields of an object to those of a new one, in the given order (default: their own). Fields that are undefined are left out, and so
 * are names that the object does not have. A loop, because rows and payloads go through it by the thousand, and a list of entries of each
 * would be most of the garbage of a load.
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
