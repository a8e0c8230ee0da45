import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Contract, Node } from './document.ts'
import { fromHexadecimal, toInteger } from './integers.ts'

/** The formats of integers that a JavaScript number cannot hold. The range is what the schema itself says. */
const WIDE_FORMATS: ReadonlySet<unknown> = new Set(['u256', 'u128', 'int64', 'uint64', 'sint64'])

/** Our words in the contract that say something to people or to the server, not to a validator. */
const ANNOTATIONS = ['x-expected', 'x-case-insensitive', 'example', 'discriminator']

/** Name under which AJV knows all schemas of the document, so that references work, recursive ones too. */
const ROOT = 'contract'

/** The range of a wide integer, and whether decimal strings count. */
export interface WideInteger {
  readonly minimum: bigint
  readonly maximum: bigint
  readonly strings: boolean
  /** Whether hexadecimal strings count, too. */
  readonly hexadecimal: boolean
}

/** Makes validators for schemas of the contract. */
export interface SchemaCompiler {
  /** A validator for a schema node of the document, or one built from such nodes. */
  compile(schema: Node): ValidateFunction
  /** The schema that a node of a validator's own schema refers to. */
  resolve(schema: Node): Node
}

/**
 * AJV in the dialect of OpenAPI 3.1, with one keyword of ours for wide integers. With `normalise`, validation turns each
 * of them into a bigint in place; without it the data is left alone, and an answer is checked as it will be sent.
 */
export function createSchemaCompiler(
  contract: Contract,
  { normalise }: { normalise: boolean },
): SchemaCompiler {
  // strictTypes and strictRequired dislike `type: [string, 'null']` and the `required` inside a `not`; both are meant.
  const ajv = new Ajv2020({
    verbose: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
  })
  ajv.addVocabulary(ANNOTATIONS)
  ajv.addFormat('date-time', { validate: isTime })
  ajv.addKeyword({
    keyword: 'wideInteger',
    modifying: normalise,
    errors: false,
    compile: (range: WideInteger) => (data, context) => {
      const integer =
        toInteger(data, range.strings) ?? (range.hexadecimal ? fromHexadecimal(data) : undefined)
      if (integer === undefined || integer < range.minimum || integer > range.maximum) return false
      if (normalise && context?.parentData) context.parentData[context.parentDataProperty] = integer
      return true
    },
  })
  const named = forAjv((contract.document.components as Node).schemas) as Node
  ajv.addSchema({ $defs: named }, ROOT)
  return {
    compile: (schema) => ajv.compile(forAjv(schema) as Node),
    resolve: (schema) => follow(named, schema),
  }
}

/** What ajv-formats knows about RFC 3339. The package is CommonJS, so its default export sits one level deeper. */
const grammar = formats.default.get('date-time') as { validate: (text: string) => boolean }

/** RFC 3339 by its grammar, and a time that exists: no 30 February, and no leap second, which Date cannot hold. */
function isTime(text: string): boolean {
  return grammar.validate(text) && !Number.isNaN(Date.parse(text))
}

function follow(named: Node, schema: Node): Node {
  if (typeof schema.$ref !== 'string') return schema
  const steps = schema.$ref.split('/').slice(schema.$ref.startsWith(ROOT) ? 2 : 3)
  return follow(named, steps.reduce<unknown>((at, step) => (at as Node)[step], named) as Node)
}

/**
 * A part of the document as AJV can take it: wide integers become our keyword, other integers ordinary numbers, and references
 * absolute, so that a part can be compiled by itself.
 */
function forAjv(node: unknown): unknown {
  if (typeof node === 'bigint') return Number(node)
  if (Array.isArray(node)) return node.map(forAjv)
  if (typeof node !== 'object' || node === null) return node
  const source = node as Node
  if (WIDE_FORMATS.has(source.format)) return { wideInteger: rangeOf(source) }
  return Object.fromEntries(
    Object.entries(source).map(([key, value]) => [
      key,
      key === '$ref' ? absolute(value as string) : forAjv(value),
    ]),
  )
}

function rangeOf({ type, format, minimum, maximum }: Node): WideInteger {
  if (typeof minimum !== 'bigint' || typeof maximum !== 'bigint') {
    throw new Error('openapi.yaml: a wide integer needs minimum and maximum')
  }
  const strings = [type].flat().includes('string')
  return { minimum, maximum, strings, hexadecimal: strings && format === 'u128' }
}

function absolute(reference: string): string {
  return reference.replace(/^#\/components\/schemas\//, `${ROOT}#/$defs/`)
}
