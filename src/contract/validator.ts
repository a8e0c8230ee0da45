import type { ValidateFunction } from 'ajv'
import type { Contract, ContractOperation, Node, Parameter } from './document.ts'
import { explain, type Problem } from './explain.ts'
import type { OperationId } from './operations.ts'
import { readQuery } from './parameters.ts'
import { createSchemaCompiler, type SchemaCompiler } from './schemas.ts'

/** A request as it came in: nothing is checked yet, the body is parsed JSON. */
export interface RawInput {
  readonly path: Readonly<Record<string, string>>
  readonly querystring: string
  /** A header by its lower-case name, undefined when it was not sent. Without this there are none. */
  readonly header?: (name: string) => string | undefined
  readonly body: unknown
}

/** The normalised input of a handler, or the first problem. `no_such_path`: an id that cannot be the id of anything. */
export type Verdict =
  | { readonly kind: 'valid'; readonly input: { path: object; query: object; header: object; body: unknown } }
  | { readonly kind: 'no_such_path'; readonly parameter: string }
  | { readonly kind: 'invalid'; readonly problem: Problem }

/** An answer as it will be sent. */
export interface Answer {
  readonly status: number
  readonly mediaType: string
  readonly body: unknown
  /** The body is a stream: what it will say cannot be checked now. */
  readonly streamed?: boolean
}

/** Checks requests and answers against the contract. */
export interface ContractValidator {
  request(operation: OperationId, input: RawInput): Verdict
  /** What is wrong with an answer, or undefined when it is what the contract says. */
  response(operation: OperationId, answer: Answer): string | undefined
}

/**
 * Compiles the request schemas of every operation, so that a broken contract fails at the start and not at a request.
 * Those of the answers are compiled when they are first asked for, which in production is never.
 */
export function createValidator(contract: Contract): ContractValidator {
  const requests = createSchemaCompiler(contract, { normalise: true })
  const responses = createSchemaCompiler(contract, { normalise: false })
  const checks = new Map(
    contract.operations.map((operation) => [
      operation.id,
      { request: requestCheck(operation, requests), response: responseCheck(operation, responses) },
    ]),
  )
  return {
    request: (operation, input) => find(checks, operation).request(input),
    response: (operation, answer) => find(checks, operation).response(answer),
  }
}

function requestCheck(
  { parameters, body }: ContractOperation,
  compiler: SchemaCompiler,
): (input: RawInput) => Verdict {
  const pathCheck = createPathCheck(
    parameters.filter((parameter) => parameter.in === 'path'),
    compiler,
  )
  const queryCheck = createQueryCheck(
    parameters.filter((parameter) => parameter.in === 'query'),
    compiler,
  )
  const headerCheck = createHeaderCheck(
    parameters.filter((parameter) => parameter.in === 'header'),
    compiler,
  )
  const validateBody = body && compiler.compile(body.schema)
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
) => { values: object } | Exclude<Verdict, { kind: 'valid' }>

/** A text that cannot be an id names nothing; a number that is none is a mistake, and told as one. */
function createPathCheck(parameters: readonly Parameter[], compiler: SchemaCompiler): PathCheck {
  const checks = parameters.map(({ name, schema }) => ({
    name,
    isId: compiler.resolve(schema).type === 'string',
    // As an object of one field, because normalising needs a place to write to.
    validate: compiler.compile({ type: 'object', properties: { [name]: schema } }),
  }))
  return (path) => {
    const values = { ...path }
    for (const { name, isId, validate } of checks) {
      if (validate(values)) continue
      if (isId) return { kind: 'no_such_path', parameter: name }
      return { kind: 'invalid', problem: explain(validate.errors ?? [], 'path', compiler) }
    }
    return { values }
  }
}

type QueryCheck = (querystring: string) => { values: object } | { problem: Problem }

function createQueryCheck(parameters: readonly Parameter[], compiler: SchemaCompiler): QueryCheck {
  const schemas = new Map(parameters.map(({ name, schema }) => [name, resolved(schema, compiler)]))
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))
  const validate = compiler.compile({ type: 'object', properties })
  return (querystring) => {
    const reading = readQuery(querystring, parameters, schemas)
    if (!reading.ok) return { problem: { path: `query.${reading.name}`, expected: reading.expected } }
    if (validate(reading.values)) return { values: reading.values }
    return { problem: explain(validate.errors ?? [], 'query', compiler) }
  }
}

type HeaderCheck = (header: (name: string) => string | undefined) => { values: object } | { problem: Problem }

/** Headers that are not declared are nobody's business here; browsers and proxies send many. */
function createHeaderCheck(parameters: readonly Parameter[], compiler: SchemaCompiler): HeaderCheck {
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))
  const validate = compiler.compile({ type: 'object', properties })
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

/** The schema with ordinary numbers in place of the document's bigints. */
function resolved(schema: Node, compiler: SchemaCompiler): Node {
  const node = compiler.resolve(schema)
  return typeof node.default === 'bigint' ? { ...node, default: Number(node.default) } : node
}

function responseCheck(
  operation: ContractOperation,
  compiler: SchemaCompiler,
): (answer: Answer) => string | undefined {
  let declared: ReadonlyMap<number, DeclaredAnswer> | undefined
  return ({ status, mediaType, body, streamed }) => {
    declared ??= declaredAnswers(operation, compiler)
    const wanted = declared.get(status)
    if (wanted === undefined) return `the status ${status} is not declared`
    if (wanted.mediaType !== mediaType)
      return `the media type is ${mediaType}, declared is ${wanted.mediaType}`
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
): Map<number, DeclaredAnswer> {
  const entries = [...responses].map(([status, { mediaType, schema }]): [number, DeclaredAnswer] => [
    status,
    { mediaType, validate: compiler.compile(schema) },
  ])
  return new Map(entries)
}

function find<T>(checks: ReadonlyMap<OperationId, T>, operation: OperationId): T {
  const check = checks.get(operation)
  if (check === undefined) throw new Error(`the contract has no operation ${operation}`)
  return check
}
