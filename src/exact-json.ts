/**
 * JSON for storage whose integers and times come back as what they were (I10): jsonb has no integers that every reader keeps,
 * and no times. A bigint is `{"$int": "…"}` in it, a Date `{"$time": "…"}`.
 */

/** The value as plain JSON. What is undefined is left out. */
export function toExactJson(value: unknown): unknown {
  if (typeof value === 'bigint') return { $int: value.toString() }
  if (value instanceof Date) return { $time: value.toISOString() }
  if (Array.isArray(value)) return value.map(toExactJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => (field === undefined ? [] : [[key, toExactJson(field)]])),
  )
}

/** What `toExactJson` was given. */
export function fromExactJson(stored: unknown): unknown {
  if (Array.isArray(stored)) return stored.map(fromExactJson)
  if (typeof stored !== 'object' || stored === null) return stored
  const { $int, $time } = stored as { $int?: unknown; $time?: unknown }
  if (typeof $int === 'string') return BigInt($int)
  if (typeof $time === 'string') return new Date($time)
  return Object.fromEntries(Object.entries(stored).map(([key, field]) => [key, fromExactJson(field)]))
}
