import type { ErrorObject } from 'ajv'
import { suggest } from '../lib/suggest.ts'
import type { Node } from './document.ts'
import type { SchemaCompiler } from './schemas.ts'
import type { WideInteger } from './wide-integer.ts'

/** A problem of a value, described for its sender. */
export interface Problem {
  /** The path of the value, e.g. `body.operations[0].asset.code`. */
  readonly path: string
  /** The expected value. */
  readonly expected: string
}

/** Writes the problem as one sentence. */
export function sentence({ path, expected }: Problem): string {
  return `${path}: ${expected}.`
}

/**
 * Describes the first problem that a validator found. If the value matches none of several schemas, the
 * description compares it with the schema that it resembles most, because a list of all differences would not
 * help.
 *
 * @param errors the errors of AJV in `verbose` mode
 * @param root the name of the value: `body`, `query`, `response`
 */
export function explain(errors: readonly ErrorObject[], root: string, compiler: SchemaCompiler): Problem {
  const error = errors.at(-1)
  if (error === undefined) throw new Error(`there is no problem of ${root} to explain`)
  const path = root + dotted(error.instancePath)
  if (error.keyword === 'oneOf') {
    const kind = unknownKind(error)
    if (kind !== undefined) return { path: path + kind.path, expected: kind.expected }
    const branch = declaredBranch(error) ?? closest(error.data, error.schema as Node[], compiler)
    const validate = compiler.compile(branch)
    if (!validate(error.data)) return explain(validate.errors ?? [], path, compiler)
  }
  return describe(error, path, compiler)
}

/** Describes an object whose discriminating field names none of the declared kinds. */
function unknownKind({ data, parentSchema }: ErrorObject): Problem | undefined {
  const discriminator = (parentSchema as Node).discriminator as
    | { propertyName: string; mapping: object }
    | undefined
  if (discriminator === undefined || typeof data !== 'object' || data === null) return undefined
  const { propertyName, mapping } = discriminator
  const kind: unknown = Object.hasOwn(data, propertyName) ? (data as Node)[propertyName] : undefined
  if (typeof kind === 'string' && Object.hasOwn(mapping, kind)) return undefined
  const elsewhere =
    (parentSchema as { 'x-elsewhere'?: Readonly<Record<string, string>> })['x-elsewhere'] ?? {}
  const reason = typeof kind === 'string' && Object.hasOwn(elsewhere, kind) ? `; ${elsewhere[kind]}` : ''
  return { path: `.${propertyName}`, expected: `expected one of ${Object.keys(mapping).join(', ')}${reason}` }
}

/**
 * The shape that the discriminating field names; undefined if no field is declared to distinguish the shapes.
 */
function declaredBranch({ data, parentSchema }: ErrorObject): Node | undefined {
  const { discriminator } = parentSchema as { discriminator?: { propertyName: string; mapping: object } }
  if (discriminator === undefined || typeof data !== 'object' || data === null) return undefined
  const { propertyName, mapping } = discriminator
  return { $ref: (mapping as Node)[(data as Node)[propertyName] as string] }
}

function describe(error: ErrorObject, path: string, compiler: SchemaCompiler): Problem {
  const { keyword, params } = error
  const parent = error.parentSchema as Node
  if (keyword === 'required') return { path: `${path}.${params.missingProperty}`, expected: 'is required' }
  if (keyword === 'additionalProperties') {
    const known = Object.entries((parent.properties ?? {}) as Record<string, Node>)
      .filter(([, schema]) => compiler.resolve(schema).not === undefined)
      .map(([name]) => name)
    const field = params.additionalProperty as string
    const others = known.length === 0 ? 'there are none' : `known are ${known.join(', ')}`
    return {
      path: `${path}.${cut(field)}`,
      expected: `there is no such field here${suggestField(field, known)}; ${others}`,
    }
  }
  if (keyword === 'propertyNames') {
    const name = params.propertyName as string
    const names = error.schema as Node
    const validate = compiler.compile(names)
    validate(name)
    // The name itself is the value here, so the path ends with it.
    return explain(validate.errors ?? [], `${path}.${cut(name)}`, compiler)
  }
  const expected =
    (FORM_KEYWORDS.has(keyword) && parent['x-expected']) ||
    (PHRASES[keyword]?.(error.schema, parent) ?? `another value (${keyword} in the contract)`)
  return { path, expected: `expected ${expected}` }
}

/**
 * A caller chooses names of unknown fields, and a sentence is for people: names are cut after this many
 * characters.
 */
const MOST_SHOWN = 100

function cut(name: string): string {
  return name.length <= MOST_SHOWN ? name : `${name.slice(0, MOST_SHOWN)}…`
}

/** These keywords use the contract's wording (`x-expected`), if any. */
const FORM_KEYWORDS: ReadonlySet<string> = new Set(['pattern', 'const', 'type', 'not'])

/**
 * Each keyword describes its expectation. The first argument is the value of the keyword, the second the
 * schema around it.
 */
const PHRASES: Record<string, (wanted: unknown, parent: Node) => string> = {
  type: (wanted, parent) =>
    [wanted]
      .flat()
      .map((name) => typePhrase(String(name), parent))
      .join(' or '),
  enum: (wanted) => `one of ${(wanted as unknown[]).join(', ')}`,
  const: (wanted) => `exactly ${JSON.stringify(wanted)}`,
  format: (wanted) => FORMATS[String(wanted)] ?? `text in the format ${wanted}`,
  pattern: (wanted) => `text that matches ${wanted}`,
  minLength: (wanted) => `at least ${wanted} characters`,
  maxLength: (wanted) => `at most ${wanted} characters`,
  minItems: (wanted) => `at least ${wanted} items`,
  maxItems: (wanted) => `at most ${wanted} items`,
  uniqueItems: () => 'each item once',
  minimum: (wanted, parent) => (parent.type === 'integer' ? integerPhrase(parent) : `at least ${wanted}`),
  maximum: (wanted, parent) => (parent.type === 'integer' ? integerPhrase(parent) : `at most ${wanted}`),
  exclusiveMinimum: (wanted) => `a number above ${wanted}`,
  minProperties: (wanted) => `at least ${wanted} field(s)`,
  maxProperties: (wanted) => `at most ${wanted} field(s)`,
  wideInteger: (wanted) => widePhrase(wanted as WideInteger),
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'a date and time that exists, as in RFC 3339, such as 2030-01-01T00:00:00Z',
}

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
}

function typePhrase(name: string, parent: Node): string {
  return name === 'integer' ? integerPhrase(parent) : (TYPES[name] ?? name)
}

function integerPhrase({ minimum, maximum }: Node): string {
  if (minimum === undefined) return 'an integer'
  return maximum === undefined
    ? `an integer of at least ${minimum}`
    : `an integer from ${minimum} to ${maximum}`
}

function widePhrase({ minimum, maximum, strings, hexadecimal }: WideInteger): string {
  const forms = ['a JSON integer']
  if (strings) forms.push('a decimal string')
  if (hexadecimal) forms.push('0x and hexadecimal digits')
  return `an integer from ${minimum} to ${maximum}, as ${new Intl.ListFormat('en', { type: 'disjunction' }).format(forms)}`
}

/** Finds the schema that the value resembles most; the first one wins a tie. */
function closest(value: unknown, schemas: readonly Node[], compiler: SchemaCompiler): Node {
  const scores = schemas.map((schema) => resemblance(value, schema, compiler))
  return schemas[scores.indexOf(Math.max(...scores))] ?? {}
}

/**
 * A field with the right discriminating value outweighs any number of fields that only have a declared name.
 */
const KIND_WEIGHT = 1000

function resemblance(value: unknown, node: Node, compiler: SchemaCompiler): number {
  const schema = compiler.resolve(node)
  if (Array.isArray(schema.oneOf)) {
    return Math.max(...schema.oneOf.map((inner) => resemblance(value, inner as Node, compiler)))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return hasType(value, schema) ? 1 : 0
  if (schema.type !== 'object') return -1
  const properties = (schema.properties ?? {}) as Record<string, Node>
  const missing = ((schema.required ?? []) as string[]).filter((name) => !Object.hasOwn(value, name))
  const scores = Object.keys(value)
    .slice(0, MOST_COMPARED)
    .map((name) => familiarity((value as Readonly<Record<string, unknown>>)[name], properties, name))
  return scores.reduce((sum, points) => sum + points, -missing.length)
}

/**
 * No schema has more fields. A body with thousands of unknown ones would be compared with each schema for
 * nothing.
 */
const MOST_COMPARED = 200

function familiarity(value: unknown, properties: Record<string, Node>, name: string): number {
  if (!Object.hasOwn(properties, name)) return -1
  const { const: only, enum: several } = properties[name] ?? {}
  if (only === undefined && several === undefined) return 2
  return value === only || (several as unknown[] | undefined)?.includes(value) ? KIND_WEIGHT : 1
}

function hasType(value: unknown, schema: Node): boolean {
  if (schema.wideInteger !== undefined) return typeof value !== 'object' && typeof value !== 'boolean'
  const name = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return [schema.type].flat().some((type) => type === name || (type === 'integer' && name === 'number'))
}

/** Converts `/operations/0/asset` to `.operations[0].asset`. */
function dotted(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
}

/** Shorter words match the beginning of too many names by accident. */
const SHORTEST_BEGINNING = 3

/**
 * Returns ` (did you mean "x"?)` for a field that the contract does not have: the same name in another
 * notation (`gasLimit`), with typing errors (`vlaue`), or only its beginning (`gas`). Returns an empty text
 * when no known name resembles it.
 */
function suggestField(field: string, known: readonly string[]): string {
  const word = plain(field)
  const same = known.find((name) => plain(name) === word)
  if (same !== undefined) return ` (did you mean "${same}"?)`
  const near = suggest(field, known)
  if (near !== '' || word.length < SHORTEST_BEGINNING) return near
  const longer = known.filter((name) => plain(name).startsWith(word)).map((name) => `"${name}"`)
  return longer.length === 0 ? '' : ` (did you mean ${OR.format(longer)}?)`
}

const OR = new Intl.ListFormat('en', { type: 'disjunction' })

/** Writes `maxFeePerGas` and `max_fee_per_gas` alike. */
function plain(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}
