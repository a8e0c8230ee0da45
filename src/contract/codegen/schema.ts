import type { Node } from '../document.ts'
import type { References } from './references.ts'

/** Keywords that OpenAPI 3.0 does not have, or that only concern the server and people. */
const DROPPED: ReadonlySet<string> = new Set([
  'title',
  'not',
  'propertyNames',
  'contentMediaType',
  'contentSchema',
  // Generators turn this into a set, and then confuse sets and lists.
  'uniqueItems',
  'examples',
  'x-expected',
  'x-elsewhere',
])

/** The largest integers that fit into the integer types of Go, Java and C#. */
const INT32_MAX = 2n ** 31n - 1n
const INT64_MAX = 2n ** 63n - 1n

/**
 * Writes a schema of the contract in OpenAPI 3.0. The result accepts every answer that the contract allows. A
 * request that fits the result fits the contract, but for conditions that 3.0 or generators cannot express,
 * such as `not`.
 */
export function toSchema30(schema: Node, references: References): Node {
  const target = references.resolve(schema)
  return 'name' in target
    ? { $ref: `#/components/schemas/${target.name}` }
    : toBody30(target.node, references)
}

/** Writes a schema that is no reference. */
function toBody30(node: Node, references: References): Node {
  if (Array.isArray(node.oneOf)) return toUnion(node, references)
  if (Array.isArray(node.type)) return toSingleType(node, references)
  if (node.type === 'integer') return toInteger(node)
  // Generators read a number without a format as one of 32 bits, or of any length, which Go cannot have
  // beside null.
  if (node.type === 'number') return { ...convertParts(node, references), format: 'double' }
  if (node.type === 'null') return { ...described(node.description), type: 'object', nullable: true }
  return withoutPattern(withoutConst(convertParts(node, references)))
}

/**
 * Turns the member `null` of a union into `nullable`. A union of one member is the member. In 3.0 a union of
 * several cannot be null; a request leaves the field out instead, which means the same.
 */
function toUnion(union: Node, references: References): Node {
  const { description, discriminator } = union
  const members = references.membersOf(union)
  const others = members.filter(({ type }) => type !== 'null')
  const [only, ...rest] = others
  if (only !== undefined && rest.length === 0)
    return toMember({ only, description, nullable: others.length < members.length }, references)
  return {
    ...described(description),
    oneOf: others.map((member) => toSchema30(member, references)),
    ...(discriminator !== undefined && { discriminator: toDiscriminator(discriminator as Node, references) }),
  }
}

interface OnlyMember {
  readonly only: Node
  readonly description: unknown
  readonly nullable: boolean
}

/**
 * Writes the only member of a union. 3.0 takes `nullable` only beside a type, so a reference gets the type of
 * its target.
 */
function toMember({ only, description, nullable }: OnlyMember, references: References): Node {
  const schema = toSchema30(only, references)
  const { type } = references.follow(only)
  if (!nullable || type === undefined) return schema
  if ('$ref' in schema) return { ...described(description), type, allOf: [schema], nullable }
  return { ...schema, ...described(description), nullable }
}

function toDiscriminator({ propertyName, mapping }: Node, references: References): Node {
  const targets = Object.entries(mapping as Readonly<Record<string, string>>)
  return {
    propertyName,
    mapping: Object.fromEntries(
      targets.map(([value, $ref]) => [value, toSchema30({ $ref }, references).$ref]),
    ),
  }
}

/** Turns a list of types into one type. */
function toSingleType(node: Node, references: References): Node {
  const types = node.type as readonly string[]
  const others = types.filter((type) => type !== 'null')
  const [only, ...rest] = others
  const nullable = types.includes('null') && { nullable: true }
  if (others.includes('integer')) return { ...toDigits(node), ...nullable }
  // No type of 3.0 means "a list or an object".
  if (rest.length > 0) return described(node.description)
  return { ...toSchema30({ ...node, type: only }, references), ...nullable }
}

/**
 * A wide integer that may be a string becomes one, because a string loses no digit. The exact range is left
 * to the service: its pattern is a page long, and generators copy it to every field.
 */
function toDigits({ description, minimum, maximum }: Node): Node {
  const pattern = (minimum as bigint) < 0n ? '^(0|-?[1-9][0-9]*)$' : '^(0|[1-9][0-9]*)$'
  const maxLength = Math.max(String(minimum).length, String(maximum).length)
  return { ...described(description), type: 'string', pattern, maxLength }
}

/** Gives an integer the smallest type that fits. Beyond 64 bits only a JSON number is left. */
function toInteger({ format: _format, ...node }: Node): Node {
  const { maximum = INT64_MAX } = node
  if (BigInt(maximum as bigint) <= INT32_MAX) return node
  if (BigInt(maximum as bigint) <= INT64_MAX) return { ...node, format: 'int64' }
  return { ...described(node.description), type: 'number', minimum: 0, ...EXACT_IN_GO }
}

/** oapi-codegen then reads the number into a type that keeps all digits. */
const EXACT_IN_GO = { 'x-go-type': 'json.Number' }

/**
 * Writes `const` as an enumeration of one value. Generators make no useful type of a boolean that has only
 * one value.
 */
function withoutConst({ const: only, ...node }: Node): Node {
  if (only === undefined || node.type === 'boolean') return node
  return { ...node, enum: [only] }
}

/** Generators make a type of a time, and then look for the pattern in it as if it were text. */
function withoutPattern(node: Node): Node {
  const { pattern: _pattern, ...rest } = node
  return node.format === 'date-time' ? rest : node
}

function convertParts(node: Node, references: References): Node {
  const parts = Object.entries(node)
    .filter(([key]) => !DROPPED.has(key))
    .map(([key, value]) => [key, convertPart(key, value, references)])
  return { ...Object.fromEntries(parts), ...exclusiveMinimum(node), ...example(node) }
}

function convertPart(key: string, value: unknown, references: References): unknown {
  if (key === 'properties') return convertProperties(value as Readonly<Record<string, Node>>, references)
  if (key === 'allOf') return (value as readonly Node[]).map((part) => toSchema30(part, references))
  const isSchema = key === 'items' || (key === 'additionalProperties' && typeof value === 'object')
  return isSchema ? toSchema30(value as Node, references) : value
}

/** Omits the properties that must be absent. */
function convertProperties(properties: Readonly<Record<string, Node>>, references: References): Node {
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([, schema]) => !mustBeAbsent(schema, references))
      .map(([name, schema]) => [name, toSchema30(schema, references)]),
  )
}

function mustBeAbsent(schema: Node, references: References): boolean {
  const target = references.resolve(schema)
  if ('name' in target) return false
  const { not } = target.node
  return typeof not === 'object' && not !== null && Object.keys(not).length === 0
}

/** In 3.0 `exclusiveMinimum` says that `minimum` itself does not count. */
function exclusiveMinimum({ exclusiveMinimum }: Node): Node {
  return exclusiveMinimum === undefined ? {} : { minimum: exclusiveMinimum, exclusiveMinimum: true }
}

function example({ examples }: Node): Node {
  return Array.isArray(examples) ? { example: examples[0] } : {}
}

function described(description: unknown): Node {
  return description === undefined ? {} : { description }
}
