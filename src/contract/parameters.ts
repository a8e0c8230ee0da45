import type { Node, Parameter } from './document.ts'

/** The values of all query parameters that the caller sent or that have a default, or the first problem of the query. */
export type QueryReading =
  | { readonly ok: true; readonly values: Record<string, unknown> }
  | { readonly ok: false; readonly name: string; readonly expected: string }

/** Larger numbers in a query become this one. The result is the same, because such a page is empty anyway. */
const LARGEST = 2_147_483_647

/**
 * Reads a query string against the declared parameters. Integers become numbers, and true and false become booleans; other text stays
 * text, so that the schema refuses it. The reader refuses an undeclared parameter and a repeated one, because an answer that ignores them
 * would mislead the caller.
 *
 * @param schemas the resolved schema of each declared query parameter
 */
export function readQuery(
  querystring: string,
  parameters: readonly Parameter[],
  schemas: ReadonlyMap<string, Node>,
): QueryReading {
  const values: Record<string, unknown> = {}
  for (const [name, text] of querystring === '' ? [] : new URLSearchParams(querystring)) {
    const parameter = parameters.find((declared) => declared.name === name)
    if (parameter === undefined) return { ok: false, name, expected: unknownParameter(parameters) }
    if (Object.hasOwn(values, name)) return { ok: false, name, expected: 'was given more than once' }
    values[name] = readValue(text, parameter, schemas.get(name) ?? {})
  }
  for (const { name } of parameters) {
    const fallback = schemas.get(name)?.default
    if (fallback !== undefined && !Object.hasOwn(values, name)) values[name] = fallback
  }
  return { ok: true, values }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

function readValue(text: string, { caseInsensitive }: Parameter, schema: Node): unknown {
  if (schema.type === 'integer') return /^-?\d+$/.test(text) ? Math.min(Number(text), LARGEST) : text
  if (schema.type === 'boolean') return BOOLEANS.get(text) ?? text
  return caseInsensitive ? text.toLowerCase() : text
}

function unknownParameter(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return 'this operation takes no query parameters'
  return `there is no such query parameter here; known are ${parameters.map(({ name }) => name).join(', ')}`
}
