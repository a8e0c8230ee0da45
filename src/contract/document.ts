import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { deepFreeze } from '../lib/object.ts'
import { builtFile, PACKAGE_ROOT } from '../lib/package-files.ts'
import { stringifyJson } from './exact-integers.ts'
import type { OperationId, Schemas } from './operations.ts'

/** Any object of the document. Integers are bigint here, so that bounds beyond 2^53 are exact. */
export type Node = { readonly [key: string]: unknown }

/** A declared parameter. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  /** No reference. */
  readonly schema: Node
  /** The server ignores the case of letters (`x-case-insensitive`). */
  readonly caseInsensitive: boolean
  /**
   * A text in a path that the caller chooses, and no id of a record (`x-chosen`): one of another form is a
   * mistake of the caller.
   */
  readonly isChosen: boolean
  /**
   * The last parameter of a path that also takes further segments, with the slashes between them (`x-rest`).
   */
  readonly takesRest: boolean
  /** A request without it is refused. */
  readonly isRequired: boolean
}

/** A declared request body. Every media type has the same JSON schema. */
interface DeclaredBody {
  readonly mediaTypes: readonly string[]
  readonly schema: Node
}

/** A declared response. */
interface DeclaredResponse {
  readonly mediaType: string
  readonly schema: Node
}

/**
 * The form of a success: the envelope around `data`, a stream of server-sent events, or a separate body, such
 * as a JSON-RPC response.
 */
type SuccessForm = 'envelope' | 'stream' | 'bare'

/** One operation of the contract. References are followed down to the first schema. */
export interface ContractOperation {
  readonly id: OperationId
  /** The method in upper case. */
  readonly method: string
  /** The path template, such as `/api/v1/relayers/{relayer_id}/sign`. */
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** The JSON request body; absent if the operation has none. */
  readonly body?: DeclaredBody
  /**
   * The declared response of each status code, in each of its media types; `default` is that of every other
   * one.
   */
  readonly responses: ReadonlyMap<number | 'default', readonly [DeclaredResponse, ...DeclaredResponse[]]>
  readonly successStatus: number
  /** The media types of a success; the first one is for callers that prefer none. */
  readonly successMediaTypes: readonly string[]
  readonly successForm: SuccessForm
  /** True when it reads a list: an answer can be as large as many records. */
  readonly readsList: boolean
  /** True when the operation requires a credential. */
  readonly secured: boolean
  /**
   * The scope that an API key needs for it; absent for an operation that is open to every key, or needs no
   * key.
   */
  readonly scope?: Schemas['Scope']
  /** The query parameter with a ticket instead of an API key; absent if the operation accepts none. */
  readonly ticketParameter?: string
  /** True when the rate limit counts the operation: the contract declares 429 for it. */
  readonly rateLimited: boolean
  /**
   * The path parameter that identifies the record which a POST creates, e.g. `transaction_id`: the contract
   * also has the operation's path with this parameter appended.
   */
  readonly creates?: string
}

/** The contract: openapi.yaml, read once and frozen. */
export interface Contract {
  readonly document: Node
  readonly operations: readonly ContractOperation[]
  /** The text of openapi.yaml. */
  readonly yaml: string
  /** The document as JSON with exact integers. */
  readonly json: string
}

const OPENAPI_YAML = pathToFileURL(join(PACKAGE_ROOT, 'openapi.yaml'))

/**
 * Reads the contract.
 *
 * @throws Error if the file is missing, or breaks a rule that this code relies on
 */
export async function loadContract(file: URL = OPENAPI_YAML): Promise<Contract> {
  const yaml = await readFile(file, 'utf8')
  const prepared = readPreparedJson(yaml)
  const document = deepFreeze(prepared === undefined ? await parseYaml(yaml) : parseDocumentJson(prepared))
  return Object.freeze({
    document,
    operations: readOperations(document),
    yaml,
    json: prepared ?? stringifyJson(document),
  })
}

/** Reads the document from YAML. A start that has it as JSON does not load the parser. */
export async function parseYaml(yaml: string): Promise<Node> {
  const { parse } = await import('yaml')
  return parse(yaml, { intAsBigInt: true, merge: false }) as Node
}

/** Reads the document from JSON, to the same result as from YAML. */
export function parseDocumentJson(json: string): Node {
  return JSON.parse(json, (_key, value: unknown, context?: { readonly source: string }) =>
    typeof value === 'number' && /^-?\d+$/.test(context?.source ?? '')
      ? BigInt(context?.source ?? '')
      : value,
  ) as Node
}

/** Follows `$ref`s inside the document until it reaches a node that is no reference. */
export function resolveReference(document: Node, node: Node): Node {
  const reference = node.$ref
  if (typeof reference !== 'string') return node
  const steps = reference.replace(/^#\//, '').split('/')
  const target = steps.reduce<unknown>((at, step) => (at as Node)[unescapePointer(step)], document)
  if (typeof target !== 'object' || target === null)
    throw new Error(`openapi.yaml: ${reference} leads nowhere`)
  return resolveReference(document, target as Node)
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const

function readOperations(document: Node): ContractOperation[] {
  return Object.entries(document.paths as Node).flatMap(([path, item]) =>
    METHODS.filter((method) => method in (item as Node)).map((method) =>
      readOperation(document, { path, method, item: item as Node }),
    ),
  )
}

interface Route {
  readonly path: string
  readonly method: string
  /** The path item that holds the operation. */
  readonly item: Node
}

function readOperation(document: Node, { path, method, item }: Route): ContractOperation {
  const node = item[method] as Node
  const declared = [...((item.parameters ?? []) as Node[]), ...((node.parameters ?? []) as Node[])]
  const responses = readResponses(document, node.responses as Node)
  const creates = method === 'post' ? itemParameter(document, path) : undefined
  const security = (node.security ?? document.security) as Node[]
  const ticketParameter = readTicketParameter(document, security)
  const scope = readScope(document, node, security)
  return Object.freeze({
    id: node.operationId as OperationId,
    method: method.toUpperCase(),
    path,
    parameters: declared.map((parameter) => readParameter(document, parameter)),
    ...(node.requestBody !== undefined && { body: readBody(node.requestBody as Node) }),
    responses,
    ...readSuccess(document, responses),
    readsList:
      method === 'get' && [...responses.values()].flat().some(({ schema }) => hasList(document, schema)),
    secured: security.length > 0,
    ...(scope !== undefined && { scope }),
    ...(ticketParameter !== undefined && { ticketParameter }),
    rateLimited: responses.has(429),
    ...(creates !== undefined && { creates }),
  })
}

/**
 * Reads the scope that an operation names in its bearer requirement; undefined if it needs no key, or is open
 * to every key.
 * @throws Error for more than one scope, or one that the contract does not describe
 */
function readScope(document: Node, { operationId }: Node, security: readonly Node[]) {
  const schemes = (document.components as { securitySchemes: Readonly<Record<string, Node>> }).securitySchemes
  const described = Object.keys(schemes.bearer?.['x-scopes'] ?? {})
  const [scope, ...others] = security.flatMap(({ bearer }) => (bearer ?? []) as readonly string[])
  if (scope === undefined) return undefined
  if (others.length > 0 || !described.includes(scope))
    throw new Error(`openapi.yaml: ${operationId} may name one scope of x-scopes in its security`)
  return scope as Schemas['Scope']
}

/** Finds the name of the security scheme that is a key in the query. */
function readTicketParameter(document: Node, security: readonly Node[]): string | undefined {
  const schemes = (document.components as { securitySchemes: Readonly<Record<string, Node>> }).securitySchemes
  const found = security
    .flatMap((alternative) => Object.keys(alternative))
    .map((name) => schemes[name])
    .find((scheme) => scheme?.type === 'apiKey' && scheme.in === 'query')
  return found?.name as string | undefined
}

/** Finds `{name}` of a path `collection/{name}` in the contract. */
function itemParameter(document: Node, collection: string): string | undefined {
  const rests = Object.keys(document.paths as Node)
    .filter((path) => path.startsWith(`${collection}/`))
    .map((path) => path.slice(collection.length + 1))
  return rests.map((rest) => /^\{(\w+)\}$/.exec(rest)?.[1]).find((name) => name !== undefined)
}

function readSuccess(
  document: Node,
  responses: ContractOperation['responses'],
): Pick<ContractOperation, 'successStatus' | 'successMediaTypes' | 'successForm'> {
  const success = [...responses].flatMap(([status, declared]) =>
    status !== 'default' && status >= 200 && status < 300 ? [{ successStatus: status, declared }] : [],
  )[0]
  if (success === undefined) throw new Error('openapi.yaml: an operation declares no success')
  const { successStatus, declared } = success
  const [{ mediaType }] = declared
  const successMediaTypes = declared.map((one) => one.mediaType)
  if (mediaType === 'text/event-stream') return { successStatus, successMediaTypes, successForm: 'stream' }
  const successForm = declared.every(({ schema }) => isEnvelope(document, schema)) ? 'envelope' : 'bare'
  return { successStatus, successMediaTypes, successForm }
}

/** The envelope is an object that requires `success` and `data`. */
function isEnvelope(document: Node, schema: Node): boolean {
  const { required = [], allOf = [] } = resolveReference(document, schema) as {
    readonly required?: readonly string[]
    readonly allOf?: readonly Node[]
  }
  const own = required.includes('success') && required.includes('data')
  return own || allOf.some((part) => isEnvelope(document, part))
}

/** Returns whether a body has a list as its `data`. */
function hasList(document: Node, schema: Node): boolean {
  const { properties = {}, allOf = [] } = resolveReference(document, schema) as {
    readonly properties?: { readonly data?: Node }
    readonly allOf?: readonly Node[]
  }
  const isList = properties.data !== undefined && resolveReference(document, properties.data).type === 'array'
  return isList || allOf.some((part) => hasList(document, part))
}

function readResponses(document: Node, responses: Node): ContractOperation['responses'] {
  return new Map(
    Object.entries(responses).map(([status, response]) => [
      status === 'default' ? status : Number(status),
      contentOf(resolveReference(document, response as Node)),
    ]),
  )
}

/** Requires one schema for all media types of a body, because the service does not distinguish them. */
function readBody(node: Node): DeclaredBody {
  const entries = Object.entries(node.content as Readonly<Record<string, Node>>)
  const [schema, ...others] = entries.map(([, media]) => media.schema as Node)
  if (schema === undefined || others.some((other) => !isDeepStrictEqual(other, schema)))
    throw new Error('openapi.yaml: a request body has more than one schema')
  return { mediaTypes: entries.map(([mediaType]) => mediaType), schema }
}

function readParameter(document: Node, declared: Node): Parameter {
  const node = resolveReference(document, declared)
  return {
    name: node.name as string,
    in: node.in as Parameter['in'],
    schema: resolveReference(document, node.schema as Node),
    caseInsensitive: node['x-case-insensitive'] === true,
    isChosen: node['x-chosen'] === true,
    takesRest: node['x-rest'] === true,
    isRequired: node.required === true,
  }
}

function contentOf(node: Node): [DeclaredResponse, ...DeclaredResponse[]] {
  const [first, ...others] = Object.entries(node.content as Node).map(([mediaType, media]) => ({
    mediaType,
    schema: (media as Node).schema as Node,
  }))
  if (first === undefined) throw new Error('openapi.yaml: a response has no media type')
  return [first, ...others]
}

function unescapePointer(step: string): string {
  return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
}

/**
 * The document as JSON, under the hash of the YAML text that it was made from. YAML of this length takes a
 * quarter of a second and 50 MB to read, JSON a tenth. `npm ci` and the image make the file; a start without
 * it, or with one of another text, reads the YAML.
 */
const PREPARED_JSON = builtFile('openapi.json')

/** Returns the JSON that was made from this YAML text, or undefined. */
export function readPreparedJson(yaml: string, file: string = PREPARED_JSON): string | undefined {
  try {
    const text = readFileSync(file, 'utf8')
    const start = firstLine(yaml)
    return text.startsWith(start) ? text.slice(start.length) : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Writes the file, which appears complete or not at all. */
export function writePreparedJson(
  { yaml, json }: { yaml: string; json: string },
  file = PREPARED_JSON,
): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, firstLine(yaml) + json)
  renameSync(`${file}.new`, file)
}

function firstLine(yaml: string): string {
  return `${createHash('sha256').update(yaml).digest('hex')}\n`
}
