import fc from 'fast-check'
import type { Node } from '../../src/contract/document.ts'

/** The deepest nesting of values of schemas that refer to themselves. */
const DEPTH = 3

/** Gives values that fit a schema of OpenAPI 3.0. */
export function arbitraryOf(
  schema: Node,
  schemas: Readonly<Record<string, Node>>,
  depth = 0,
): fc.Arbitrary<unknown> {
  const value = someOf(schema, schemas, depth)
  return schema.nullable === true ? fc.oneof(fc.constant(null), value) : value
}

function someOf(schema: Node, schemas: Readonly<Record<string, Node>>, depth: number): fc.Arbitrary<unknown> {
  const inner = (node: unknown) => arbitraryOf(node as Node, schemas, depth)
  if (typeof schema.$ref === 'string') {
    const target = schemas[schema.$ref.split('/').at(-1) as string] as Node
    return arbitraryOf(target, schemas, depth + 1)
  }
  if (Array.isArray(schema.allOf)) return inner(schema.allOf[0])
  if (Array.isArray(schema.oneOf))
    return fc.oneof(...(depth > DEPTH ? [schema.oneOf[0]] : schema.oneOf).map(inner))
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  if (schema.type === 'object') return objects(schema, inner, depth)
  if (schema.type === 'array') return arrays(schema, inner, depth)
  return plainOf(schema)
}

function plainOf(schema: Node): fc.Arbitrary<unknown> {
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'integer')
    return fc.integer({
      min: Number(schema.minimum ?? 0),
      max: Math.min(Number(schema.maximum ?? 2 ** 31), 2 ** 31),
    })
  if (schema.type === 'number')
    return fc.double({
      min: Number(schema.minimum ?? 0),
      max: Number(schema.maximum ?? 2 ** 31),
      noNaN: true,
    })
  if (schema.type === 'string') return texts(schema)
  return fc.constantFrom(1, 'text', null)
}

/** The pattern of wide integers, whose exact range the derived document leaves to the service: 18 digits are always in it. */
const DIGITS = /^\^\(0\|-?\[1-9\]\[0-9\]\*\)\$$/
const SAFE_DIGITS = 18

function texts(schema: Node): fc.Arbitrary<string> {
  const { pattern, format, minLength = 0 } = schema
  const { maxLength = 400 } = DIGITS.test(String(pattern)) ? { maxLength: SAFE_DIGITS } : schema
  if (format === 'date-time') return fc.constant('2030-01-01T00:00:00Z')
  const limits = { minLength: Number(minLength), maxLength: Math.min(Number(maxLength), 400) }
  if (pattern === undefined) return fc.string(limits)
  return fc
    .stringMatching(new RegExp(pattern as string))
    .filter((text) => text.length >= limits.minLength && text.length <= Number(maxLength))
}

type Inner = (node: unknown) => fc.Arbitrary<unknown>

function arrays(
  { items, minItems = 0, maxItems = 3 }: Node,
  inner: Inner,
  depth: number,
): fc.Arbitrary<unknown> {
  const minLength = Number(minItems)
  const most = depth > DEPTH ? minLength : Math.max(minLength, 3)
  return fc.array(inner(items), { minLength, maxLength: Math.min(Number(maxItems), most) })
}

/** An object with a limited number of properties has one. Otherwise optional ones come and go. */
function objects(schema: Node, inner: Inner, depth: number): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Node>)
  const required = (schema.required ?? []) as string[]
  if (schema.maxProperties === 1n || schema.maxProperties === 1) {
    const shown = depth > DEPTH ? properties.slice(0, 1) : properties
    return fc.oneof(...shown.map(([name, node]) => inner(node).map((value) => ({ [name]: value }))))
  }
  const shown = depth > DEPTH ? properties.filter(([name]) => required.includes(name)) : properties
  const fewest = Math.min(Number(schema.minProperties ?? 0), shown.length)
  return fc
    .record(Object.fromEntries(shown.map(([name, node]) => [name, inner(node)])), { requiredKeys: required })
    .filter((value) => Object.keys(value).length >= fewest)
}
