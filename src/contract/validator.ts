import { setImmediate, setTimeout } from 'node:timers/promises'
import type { ValidateFunction } from 'ajv'
import type { Contract, ContractOperation, Node, Parameter } from './document.ts'
import { explain, type Problem } from './explain.ts'
import type { OperationId } from './operations.ts'
import { PREPARED } from './prepared-validators.ts'
import { createSchemaCompiler, type SchemaCompiler } from './schemas.ts'

/** A request before validation. The body is parsed JSON. */
export interface RawInput {
  readonly path: Readonly<Record<string, string>>
  readonly querystring: string
  /** Returns a header by its lower-case name, or undefined if the caller did not send it. If absent, the request has no headers. */
  readonly header?: (name: string) => string | undefined
  readonly body: unknown
}

/** The normalised input of a handler. */
export interface ValidInput {
  readonly path: object
  readonly query: object
  readonly header: object
  readonly body: unknown
}

/** The input of a valid request, or its first problem. `unknown_id`: the value of a path parameter cannot be an id. */
export type ValidationResult =
  | { readonly kind: 'valid'; readonly input: ValidInput }
  | { readonly kind: 'unknown_id'; readonly parameter: string }
  | { readonly kind: 'invalid'; readonly problem: Problem }

/** An answer before it is sent. */
interface Answer {
  readonly status: number
  readonly mediaType: string
  readonly body: unknown
  /** The body is a stream, so its content cannot be checked yet. */
  readonly streamed?: boolean
}

/** Checks requests and answers against the contract. */
export interface ContractValidator {
  request(operation: OperationId, input: RawInput): ValidationResult
  /** Returns the first contradiction between a response and the contract, or undefined. */
  response(operation: OperationId, answer: Answer): string | undefined
  /**
   * Compiles the request schemas of every operation, so that no caller waits for it. It yields to other work, and while requests keep
   * arriving, it waits for a pause, up to a limit.
   */
  compile(): Promise<void>
}

/** The time in ms without a request that counts as a pause. A caller who sends one request after the other makes shorter ones. */
const PAUSE_MS = 100

/** The longest wait in ms for pauses. The schemas of some operations take a tenth of a second, for which nothing else is served. */
const MAX_WAIT_MS = 5_000

/** A compiler that knows the prepared validators. */
interface RequestCompiler extends SchemaCompiler {
  validatorOf(schema: NamedSchema): ValidateFunction
}

/**
 * Creates the validator. It uses the prepared request validators. If there are none, it compiles the schemas of an operation on its first
 * request, or earlier in `compile`, because compiling all of them would take longer than everything else at a start. It compiles the
 * response schemas on first use, which never happens in production.
 */
export function createValidator(contract: Contract, prepared = PREPARED): ContractValidator {
  const compiler = createSchemaCompiler(contract, { normalise: true })
  const requests: RequestCompiler = {
    ...compiler,
    validatorOf: ({ name, schema }) => prepared?.[name] ?? compiler.compile(schema),
  }
  const responses = once(() => createSchemaCompiler(contract, { normalise: false }))
  const checks = new Map(
    contract.operations.map((operation) => [
      operation.id,
      {
        request: once(() => requestCheck(operation, requests)),
        response: once(() => responseCheck(operation, responses())),
      },
    ]),
  )
  let lastRequest = Number.NEGATIVE_INFINITY
  async function pause(deadline: number): Promise<void> {
    await setImmediate()
    for (
      let now = performance.now();
      now < Math.min(lastRequest + PAUSE_MS, deadline);
      now = performance.now()
    )
      await setTimeout(PAUSE_MS)
  }
  return {
    request: (operation, input) => {
      lastRequest = performance.now()
      return find(checks, operation).request()(input)
    },
    response: (operation, answer) => find(checks, operation).response()(answer),
    compile: async () => {
      if (prepared !== undefined) return
      const deadline = performance.now() + MAX_WAIT_MS
      for (const { request } of checks.values()) {
        await pause(deadline)
        request()
      }
    },
  }
}

/** Creates a value on first use. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

function requestCheck(
  operation: ContractOperation,
  compiler: RequestCompiler,
): (input: RawInput) => ValidationResult {
  const schemas = requestSchemas(operation)
  const of = (location: Parameter['in']) =>
    operation.parameters.filter((parameter) => parameter.in === location)
  const pathCheck = createPathCheck(schemas.path, compiler)
  const queryCheck = createQueryCheck(of('query'), schemas.query, compiler)
  const headerCheck = createHeaderCheck(of('header'), schemas.header, compiler)
  const validateBody = schemas.body && compiler.validatorOf(schemas.body)
  return (input) => {
    const path = pathCheck(input.path)
    if ('kind' in path) return path
    const query = queryCheck(input.querystring)
    if ('problem' in query) return { kind: 'invalid', problem: query.problem }
    const header = headerCheck(input.header ?? (() => undefined))
    if ('problem' in header) return { kind: 'invalid', problem: header.problem }
    if (validateBody && !validateBody(input.body)) {
      return { kind: 'invalid', problem: explain(validateBody.errors ?? [], 'body', compiler) }
    }
    return {
      kind: 'valid',
      input: {
        path: path.values,
        query: query.values,
        header: header.values,
        body: validateBody && input.body,
      },
    }
  }
}

type PathCheck = (
  path: Readonly<Record<string, string>>,
) => { values: object } | Exclude<ValidationResult, { kind: 'valid' }>

/** Distinguishes two failures: a text that cannot be an id names no record, and a malformed number or address is a mistake of the caller. */
function createPathCheck(schemas: RequestSchemas['path'], compiler: RequestCompiler): PathCheck {
  const checks = schemas.map(({ parameter, ...named }) => ({
    name: parameter.name,
    isId: !parameter.isChosen && compiler.resolve(parameter.schema).type === 'string',
    validate: compiler.validatorOf(named),
  }))
  return (path) => {
    const values = { ...path }
    for (const { name, isId, validate } of checks) {
      if (validate(values)) continue
      if (isId) return { kind: 'unknown_id', parameter: name }
      return { kind: 'invalid', problem: explain(validate.errors ?? [], 'path', compiler) }
    }
    return { values }
  }
}

type QueryCheck = (querystring: string) => { values: object } | { problem: Problem }

function createQueryCheck(
  parameters: readonly Parameter[],
  named: NamedSchema,
  compiler: RequestCompiler,
): QueryCheck {
  const schemas = new Map(parameters.map(({ name, schema }) => [name, resolved(schema, compiler)]))
  const validate = compiler.validatorOf(named)
  return (querystring) => {
    const reading = readQuery(querystring, parameters, schemas)
    if (!reading.ok) return { problem: { path: `query.${reading.name}`, expected: reading.expected } }
    if (validate(reading.values)) return { values: reading.values }
    return { problem: explain(validate.errors ?? [], 'query', compiler) }
  }
}

type HeaderCheck = (header: (name: string) => string | undefined) => { values: object } | { problem: Problem }

/** Ignores undeclared headers, because browsers and proxies send many. */
function createHeaderCheck(
  parameters: readonly Parameter[],
  named: NamedSchema,
  compiler: RequestCompiler,
): HeaderCheck {
  const validate = compiler.validatorOf(named)
  return (header) => {
    const sent = parameters.flatMap(({ name }) => {
      const value = header(name.toLowerCase())
      return value === undefined ? [] : [[name, value]]
    })
    const values: object = Object.fromEntries(sent)
    if (!validate(values)) return { problem: explain(validate.errors ?? [], 'header', compiler) }
    return { values }
  }
}

/** Resolves the schema, and gives its default as an ordinary number: the document holds bigints. */
function resolved(schema: Node, compiler: SchemaCompiler): Node {
  const node = compiler.resolve(schema)
  return typeof node.default === 'bigint' ? { ...node, default: Number(node.default) } : node
}

function responseCheck(
  operation: ContractOperation,
  compiler: SchemaCompiler,
): (answer: Answer) => string | undefined {
  let declared: ReadonlyMap<number, readonly DeclaredAnswer[]> | undefined
  return ({ status, mediaType, body, streamed }) => {
    declared ??= declaredAnswers(operation, compiler)
    const forms = declared.get(status)
    if (forms === undefined) return `the status ${status} is not declared`
    const wanted = forms.find((form) => form.mediaType === mediaType)
    if (wanted === undefined)
      return `the media type is ${mediaType}, declared is ${forms.map((form) => form.mediaType).join(' or ')}`
    if (streamed || wanted.validate(body)) return undefined
    const { path, expected } = explain(wanted.validate.errors ?? [], 'response', compiler)
    return `${path}: ${expected}`
  }
}

interface DeclaredAnswer {
  readonly mediaType: string
  readonly validate: ValidateFunction
}

function declaredAnswers(
  { responses }: ContractOperation,
  compiler: SchemaCompiler,
): Map<number, DeclaredAnswer[]> {
  const entries = [...responses].map(([status, forms]): [number, DeclaredAnswer[]] => [
    status,
    forms.map(({ mediaType, schema }) => ({ mediaType, validate: compiler.compile(schema) })),
  ])
  return new Map(entries)
}

function find<T>(checks: ReadonlyMap<OperationId, T>, operation: OperationId): T {
  const check = checks.get(operation)
  if (check === undefined) throw new Error(`the contract has no operation ${operation}`)
  return check
}

/** A schema with a name that no other schema of a request has. */
export interface NamedSchema {
  readonly name: string
  readonly schema: Node
}

/** The schemas that a request of an operation must satisfy. */
export interface RequestSchemas {
  /** One for each parameter, because each of them can end a request in its own way. */
  readonly path: readonly (NamedSchema & { readonly parameter: Parameter })[]
  readonly query: NamedSchema
  readonly header: NamedSchema
  /** Absent if the operation has no body. */
  readonly body: NamedSchema | undefined
}

/** Lists the schemas of an operation, for the validator and for the build that compiles them beforehand. */
export function requestSchemas({ id, parameters, body }: ContractOperation): RequestSchemas {
  const of = (location: Parameter['in']) => parameters.filter((parameter) => parameter.in === location)
  return {
    path: of('path').map((parameter) => ({
      name: `${id}_path_${parameter.name}`,
      schema: objectOf([parameter]),
      parameter,
    })),
    query: { name: `${id}_query`, schema: objectOf(of('query')) },
    header: { name: `${id}_header`, schema: objectOf(of('header')) },
    body: body && { name: `${id}_body`, schema: body.schema },
  }
}

/** An object gives normalisation a property to write to. */
function objectOf(parameters: readonly Parameter[]): Node {
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

/** The values of all query parameters that the caller sent or that have a default, or the first problem of the query. */
type QueryReading =
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
function readQuery(
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
