/** JSON that is only handed on: nobody here reads its numbers, and none of their digits is lost. */

/** JSON as JSON.parse reads it, but a number that would be spelled otherwise when it is written again keeps its text. */
export function parseVerbatim(text: string): unknown {
  return engine.parse(text, (_key, value, { source }) => {
    if (typeof value !== 'number' || source === undefined || String(value) === source) return value
    return engine.rawJSON(source)
  })
}

/** The value with each bigint in a form that JSON.stringify can write. */
export function writable(value: unknown): unknown {
  if (typeof value === 'bigint') return engine.rawJSON(value.toString())
  if (Array.isArray(value)) return value.map(writable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, writable(field)]))
}

/** What the engine's JSON can do and the TypeScript library does not declare yet: source text access (ES2026). */
const engine = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}
