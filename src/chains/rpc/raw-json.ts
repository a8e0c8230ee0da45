/** JSON that the service only passes on: it reads no numbers, so no digit is lost. */

/** Parses JSON like `JSON.parse`, but keeps the text of a number that would be written differently. */
export function parseVerbatim(text: string): unknown {
  return engine.parse(text, (_key, value, { source }) => {
    if (typeof value !== 'number' || source === undefined || String(value) === source) return value
    return engine.rawJSON(source)
  })
}

/** Returns the value with each bigint in a form that `JSON.stringify` can write. */
export function writable(value: unknown): unknown {
  if (typeof value === 'bigint') return engine.rawJSON(value.toString())
  if (Array.isArray(value)) return value.map(writable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, writable(field)]))
}

/** Features of the engine's JSON that the TypeScript library does not declare yet: source text access (ES2026). */
const engine = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}
