import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { toInteger } from '../lib/to-integer.ts'
import type { Contract, Node } from './document.ts'
import { fromHexadecimal } from './exact-integers.ts'

/** The formats of integers that a JavaScript number cannot hold. The schema itself declares the range. */
const WIDE_FORMATS: ReadonlySet<unknown> = new Set(['u256', 'u128', 'int64', 'uint64', 'sint64'])

/** Words of the contract that address people or the server, not the validator. */
const ANNOTATIONS = ['x-expected', 'x-case-insensitive', 'x-elsewhere', 'example', 'discriminator']

/** AJV knows all schemas of the document under this name, so that references work, including recursive ones. */
const ROOT = 'contract'

/** The range of a wide integer, and its accepted forms besides the JSON integer. */
export interface WideInteger {
  readonly minimum: bigint
  readonly maximum: bigint
  /** Decimal strings are accepted. */
  readonly strings: boolean
  /** Hexadecimal strings are accepted. */
  readonly hexadecimal: boolean
}

/** Creates validators for schemas of the contract. */
export interface SchemaCompiler {
  /** Compiles a schema of the document, or a schema that is built from such schemas. */
  compile(schema: Node): ValidateFunction
  /** Follows the reference of a schema that a compiled validator holds. */
  resolve(schema: Node): Node
}

/**
 * Creates a compiler on AJV in the dialect of OpenAPI 3.1, with a keyword for wide integers. With `normalise`, validation
 * replaces each of them by a bigint in place. Without it the data stays unchanged, which suits the check of an answer.
 */
export function createSchemaCompiler(
  contract: Contract,
  { normalise }: { normalise: boolean },
): SchemaCompiler {
  // strictTypes and strictRequired refuse `type: [string, 'null']` and `required` inside `not`; the contract uses both.
  const ajv = new Ajv2020({
    verbose: true,
    strict: true,
    // The check of the schemas against their meta-schema takes longer than many of them take to compile. The compiler for answers, which
    // every test uses, checks the same schemas.
    validateSchema: !normalise,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
  })
  ajv.addVocabulary(ANNOTATIONS)
  // AJV itself knows no format, and in strict mode it refuses unknown ones. ajv-formats adds those of the standard.
  ajvFormats.default(ajv, { keywords: false })
  ajv.addFormat('date-time', { validate: isExistingTime })
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

/** The grammar of RFC 3339. The package is CommonJS, so its default export sits one level deeper. */
const RFC_3339 = ajvFormats.default.get('date-time') as { validate: (text: string) => boolean }

/** Requires a time that Date can hold, besides the grammar: a leap second is correct in RFC 3339, but Date has none. */
function isExistingTime(text: string): boolean {
  return RFC_3339.validate(text) && !Number.isNaN(Date.parse(text))
}

function follow(named: Node, schema: Node): Node {
  if (typeof schema.$ref !== 'string') return schema
  const steps = schema.$ref.split('/').slice(schema.$ref.startsWith(ROOT) ? 2 : 3)
  return follow(named, steps.reduce<unknown>((at, step) => (at as Node)[step], named) as Node)
}

/**
 * Prepares a part of the document for AJV: wide integers become our keyword, other integers become numbers, and references
 * become absolute, so that AJV can compile the part by itself.
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
