import { createHash } from 'node:crypto'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import { OpenAPIValidator, type ParsedRequest } from 'openapi-backend'
import type { Contract, ContractOperation, Node, Parameter } from './document.ts'
import { explain, type Problem } from './explain.ts'
import type { OperationId } from './operations.ts'
import { PREPARED } from './prepared-validators.ts'
import { ContractRouter } from './router.ts'
import { createSchemaCompiler, type SchemaCompiler } from './schemas.ts'

/** A request before validation. The body is parsed JSON. */
export interface RawInput {
  readonly path: Readonly<Record<string, string>>
  readonly querystring: string
  /**
   * Returns a header by its lower-case name, or undefined if the caller did not send it. If absent, the
   * request has no headers.
   */
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

/**
 * The input of a valid request, or its first problem. `unknown_id`: the value of a path parameter cannot be
 * an id.
 */
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
  /** The router that it uses, for the server. */
  readonly router: ContractRouter
  request(operation: OperationId, input: RawInput): ValidationResult
  /** Returns the first contradiction between a response and the contract, or undefined. */
  response(operation: OperationId, answer: Answer): string | undefined
  /**
   * Compiles the request schemas of every operation, so that no caller waits for it. It yields to other work,
   * and while requests keep arriving, it waits for a pause, up to a limit.
   */
  compile(): Promise<void>
}

/**
 * The time in ms without a request that counts as a pause. A caller who sends one request after the other
 * makes shorter ones.
 */
const PAUSE_MS = 100

/**
 * The longest wait in ms for pauses. The schemas of some operations take a tenth of a second, for which
 * nothing else is served.
 */
const MAX_WAIT_MS = 5_000

/**
 * Creates the validator. openapi-backend checks requests, with our AJV or the prepared validators. Without
 * those, the schemas of an operation are compiled at its first request, or before by `compile`, because all
 * of them take longer than the rest of a start. The response schemas are compiled on first use, which never
 * happens in production.
 */
export function createValidator(contract: Contract, prepared = PREPARED): ContractValidator {
  const compiler = createSchemaCompiler(contract, { normalise: true })
  const answers = createSchemaCompiler(contract, { normalise: false })
  const router = new ContractRouter(contract)
  const validator = createRequestValidator(
    router,
    (schema) => prepared?.[nameOf(schema)] ?? compiler.compile(schema),
  )
  const operations = new Map(contract.operations.map((operation) => [operation.id, operation]))
  const find = (id: OperationId): ContractOperation => {
    const operation = operations.get(id)
    if (operation === undefined) throw new Error(`the contract has no operation ${id}`)
    return operation
  }
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
    router,
    request: (id, input) => {
      lastRequest = performance.now()
      const operation = find(id)
      const request = readRequest(operation, input)
      const { errors } = validator.validateRequest(request, id)
      if (errors) return refusal(operation, errors, compiler)
      return { kind: 'valid', input: inputOf(operation, request) }
    },
    response: (id, { status, mediaType, body, streamed }) => {
      const { responses } = find(id)
      const forms = responses.get(status) ?? responses.get('default')
      if (forms === undefined) return `the status ${status} is not declared`
      const form = forms.find((one) => one.mediaType === mediaType)
      if (form === undefined)
        return `the media type is ${mediaType}, declared is ${forms.map((one) => one.mediaType).join(' or ')}`
      const validate = answers.compile(form.schema)
      if (streamed || validate(body)) return undefined
      const { path, expected } = explain(validate.errors ?? [], 'response', answers)
      return `${path}: ${expected}`
    },
    compile: async () => {
      if (prepared !== undefined) return
      const deadline = performance.now() + MAX_WAIT_MS
      for (const id of operations.keys()) {
        await pause(deadline)
        validator.getRequestValidatorsForOperation(id)
      }
    },
  }
}

/**
 * Creates the validator of openapi-backend. When it needs an operation first, it asks for two validators: of
 * the body and of the parameters.
 *
 * @param compile takes the place of an AJV, because openapi-backend calls nothing else of it
 */
export function createRequestValidator(
  router: ContractRouter,
  compile: (schema: Node) => ValidateFunction,
): OpenAPIValidator {
  return new OpenAPIValidator({
    definition: router.definition,
    router,
    lazyCompileValidators: true,
    customizeAjv: () => ({ compile }) as unknown as Ajv,
    // openapi-backend creates an AJV of its own before it asks for ours. Without the meta-schema that takes
    // 0.1 ms instead of 0.4.
    ajvOpts: { meta: false },
  })
}

/** Names the prepared validator of a schema that openapi-backend asks for. */
export function nameOf(schema: Node): string {
  return createHash('sha256').update(JSON.stringify(schema)).digest('hex')
}

/**
 * Reads a request for openapi-backend, whose own parser rounds integers. Validation replaces wide integers in
 * it by bigints.
 */
function readRequest({ method, path, parameters }: ContractOperation, input: RawInput): ParsedRequest {
  return {
    method,
    path,
    params: { ...input.path },
    query: readQuery(input.querystring, parameters),
    headers: readHeaders(input.header, parameters),
    cookies: {},
    // openapi-backend reports an absent body beside the body, and this one as a body of the wrong type.
    requestBody: input.body ?? null,
  }
}

function inputOf({ parameters, body }: ContractOperation, request: ParsedRequest): ValidInput {
  const { params, query, headers, requestBody } = request
  const header = parameters
    .filter((one) => one.in === 'header' && headers[one.name.toLowerCase()] !== undefined)
    .map(({ name }) => [name, headers[name.toLowerCase()]])
  return { path: params, query, header: Object.fromEntries(header), body: body && requestBody }
}

/**
 * Reads no undeclared headers, because browsers and proxies send many. openapi-backend wants the names in
 * lower case.
 */
function readHeaders(
  header: RawInput['header'],
  parameters: readonly Parameter[],
): Readonly<Record<string, string>> {
  // openapi-backend checks a body that is no object only under this media type.
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  for (const parameter of parameters) {
    const name = parameter.name.toLowerCase()
    const value = parameter.in === 'header' ? header?.(name) : undefined
    if (value !== undefined) headers[name] = value
  }
  return headers
}

/** Larger numbers in a query become this one. The result is the same, because such a page is empty anyway. */
const LARGEST = 2_147_483_647

/**
 * Reads a query. Integers become numbers, and true and false become booleans. Other text stays text, and a
 * parameter that is given more than once becomes a list, so that the schema refuses it.
 */
function readQuery(querystring: string, parameters: readonly Parameter[]): object {
  const values = new Map<string, unknown>()
  const declared = parameters.filter((parameter) => parameter.in === 'query')
  const free = declared.find(isFreeForm)
  const others = new Map<string, string[]>()
  for (const [name, text] of querystring === '' ? [] : new URLSearchParams(querystring)) {
    const parameter = declared.find((one) => one !== free && one.name === name)
    if (parameter === undefined && free !== undefined) {
      others.set(name, [...(others.get(name) ?? []), text])
      continue
    }
    values.set(name, values.has(name) ? [] : readValue(text, parameter))
  }
  for (const { name, schema } of declared) {
    const { default: fallback } = schema
    if (fallback !== undefined && !values.has(name))
      values.set(name, typeof fallback === 'bigint' ? Number(fallback) : fallback)
  }
  if (free !== undefined) values.set(free.name, Object.fromEntries(others))
  return Object.fromEntries(values)
}

/**
 * An object in the query is one of all parameters that are not declared, by their names (`style: form`,
 * `explode: true`).
 */
function isFreeForm({ schema }: Parameter): boolean {
  return schema.type === 'object'
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

function readValue(text: string, parameter: Parameter | undefined): unknown {
  const type = parameter?.schema.type
  if (type === 'integer') return /^-?\d+$/.test(text) ? Math.min(Number(text), LARGEST) : text
  if (type === 'boolean') return BOOLEANS.get(text) ?? text
  return parameter?.caseInsensitive ? text.toLowerCase() : text
}

/**
 * Tells what is wrong with a request by the last error of openapi-backend, which checks the body before the
 * parameters, and those in the order path, query, header. The value of a path parameter that cannot be an id
 * names no record, and a malformed number or address is a mistake of the caller.
 */
function refusal(
  { parameters }: ContractOperation,
  errors: readonly ErrorObject[],
  compiler: SchemaCompiler,
): Exclude<ValidationResult, { kind: 'valid' }> {
  const error = errors.at(-1) as ErrorObject
  const [, part = '', name, ...inner] = error.instancePath.split('/')
  const parameter = parameters.find(
    (one) => one.in === part && one.name.toLowerCase() === name?.toLowerCase(),
  )
  if (parameter?.in === 'path' && !parameter.isChosen && parameter.schema.type === 'string')
    return { kind: 'unknown_id', parameter: parameter.name }
  if (part === 'query' && Array.isArray(error.data))
    return { kind: 'invalid', problem: { path: `query.${name}`, expected: 'was given more than once' } }
  if (part === 'query' && error.keyword === 'additionalProperties') {
    const path = `query.${error.params.additionalProperty}`
    return { kind: 'invalid', problem: { path, expected: unknownParameter(parameters) } }
  }
  const steps = name === undefined ? [] : [parameter?.name ?? name, ...inner]
  const within = { ...error, instancePath: steps.map((step) => `/${step}`).join('') }
  return {
    kind: 'invalid',
    problem: explain([within], part === 'requestBody' ? 'body' : part, compiler),
  }
}

function unknownParameter(parameters: readonly Parameter[]): string {
  const names = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
  if (names.length === 0) return 'this operation takes no query parameters'
  return `there is no such query parameter here; known are ${names.join(', ')}`
}
