import { _, Ajv2020, type KeywordCxt, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Contract, Node } from './document.ts'
import { FORMATS } from './formats.ts'
import { type WideInteger, wideIntegerReader } from './wide-integer.ts'

/** The formats of integers that a JavaScript number cannot hold. The schema itself declares the range. */
const WIDE_FORMATS: ReadonlySet<unknown> = new Set(['u256', 'u128', 'int64', 'uint64', 'sint64'])

/** Keywords of the contract for people or the server, not for the validator. */
const ANNOTATIONS = ['x-expected', 'x-case-insensitive', 'x-elsewhere', 'example', 'discriminator']

/**
 * AJV knows all schemas of the document under this name, so that references work, including recursive ones.
 */
const ROOT = 'contract'

/** Creates validators for schemas of the contract. */
export interface SchemaCompiler {
  /**
   * Compiles a schema of the document, or a schema that is built from such schemas, once: a compilation takes
   * tens of milliseconds, and AJV keeps each one for ever. A refused request, which may need one to be
   * explained, must cost neither twice.
   */
  compile(schema: Node): ValidateFunction
  /** Follows the reference of a schema that a compiled validator holds. */
  resolve(schema: Node): Node
}

/** Settings of a compiler. */
interface SchemaOptions {
  /**
   * Validation replaces each wide integer by a bigint in place. Without it the data stays unchanged, which
   * suits the check of an answer.
   */
  readonly normalise: boolean
}

/** Creates a compiler for the schemas of the contract. It creates AJV when it compiles the first one. */
export function createSchemaCompiler(contract: Contract, options: SchemaOptions): SchemaCompiler {
  const named = namedSchemas(contract)
  let ajv: Ajv2020 | undefined
  const validators = new Map<unknown, ValidateFunction>()
  const targets = new Map<string, Node>()
  return {
    compile: (schema) => {
      const key = identityOf(schema)
      let validate = validators.get(key)
      if (validate === undefined) {
        ajv ??= createAjv(contract, options)
        validate = ajv.compile(forAjv(schema) as Node)
        validators.set(key, validate)
      }
      return validate
    },
    resolve: (schema) => {
      if (typeof schema.$ref !== 'string') return schema
      let resolved = targets.get(schema.$ref)
      if (resolved === undefined) {
        resolved = forAjv(follow(named, schema)) as Node
        targets.set(schema.$ref, resolved)
      }
      return resolved
    },
  }
}

/**
 * A schema that is only a reference is the same wherever it occurs; any other one is the object itself. Both
 * come from the contract, so their number is bounded by it.
 */
function identityOf(schema: Node): unknown {
  return typeof schema.$ref === 'string' && Object.keys(schema).length === 1 ? schema.$ref : schema
}

/**
 * Creates AJV in the dialect of OpenAPI 3.1, with the schemas of the contract, and a keyword for wide
 * integers.
 *
 * @param options `keepsCode`: AJV keeps the code of its validators, so that it can be written into a file
 */
export function createAjv(
  contract: Contract,
  { normalise, keepsCode = false }: SchemaOptions & { readonly keepsCode?: boolean },
): Ajv2020 {
  // strictTypes and strictRequired refuse `type: [string, 'null']` and `required` inside `not`; the contract
  // uses both.
  const ajv = new Ajv2020({
    verbose: true,
    strict: true,
    // The check of the schemas against their meta-schema takes longer than many of them take to compile. The
    // compiler for answers, which every test uses, checks the same schemas.
    validateSchema: !normalise,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
    code: { source: keepsCode, formats: _`require("./formats.ts").FORMATS` },
  })
  ajv.addVocabulary(ANNOTATIONS)
  for (const [name, format] of Object.entries(FORMATS)) ajv.addFormat(name, format)
  ajv.addKeyword({
    keyword: 'wideInteger',
    schemaType: 'object',
    code: (context) => checkWideInteger(context, normalise),
  })
  ajv.addSchema({ $defs: forAjv(namedSchemas(contract)) }, ROOT)
  return ajv
}

function namedSchemas({ document }: Contract): Node {
  return (document.components as Node).schemas as Node
}

/** Writes the code of the keyword. Each range has one reader, even if it occurs more than once. */
function checkWideInteger(context: KeywordCxt, normalise: boolean): void {
  const { gen, data, it } = context
  const { minimum, maximum, strings, hexadecimal }: WideInteger = context.schema
  const range = _`{minimum: ${minimum}, maximum: ${maximum}, strings: ${strings}, hexadecimal: ${hexadecimal}}`
  const read = gen.scopeValue('func', {
    key: `wideInteger ${range}`,
    ref: wideIntegerReader(context.schema),
    code: _`require("./wide-integer.ts").wideIntegerReader(${range})`,
  })
  const integer = gen.const('integer', _`${read}(${data})`)
  context.fail(_`${integer} === undefined`)
  if (!normalise) return
  gen.if(it.parentData, () => {
    gen.assign(_`${it.parentData}[${it.parentDataProperty}]`, integer)
    gen.assign(data, integer)
  })
}

function follow(named: Node, schema: Node): Node {
  if (typeof schema.$ref !== 'string') return schema
  const steps = schema.$ref.split('/').slice(schema.$ref.startsWith(ROOT) ? 2 : 3)
  return follow(named, steps.reduce<unknown>((at, step) => (at as Node)[step], named) as Node)
}

/**
 * Prepares a part of the document for AJV: wide integers become our keyword, other integers become numbers,
 * and references become absolute, so that AJV can compile the part by itself.
 */
export function forAjv(node: unknown): unknown {
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
  return {
    minimum: String(minimum),
    maximum: String(maximum),
    strings,
    hexadecimal: strings && format === 'u128',
  }
}

function absolute(reference: string): string {
  return reference.replace(/^#\/components\/schemas\//, `${ROOT}#/$defs/`)
}
