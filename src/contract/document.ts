import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import { stringifyJson } from './integers.ts'
import type { OperationId } from './operations.ts'

/** A part of the document. Integers are bigint here, so that bounds beyond 2^53 are exact. */
export type Node = { readonly [key: string]: unknown }

/** A parameter, as declared. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: Node
  /** The server ignores the case of letters (`x-case-insensitive`). */
  readonly caseInsensitive: boolean
}

/** A request body that may be declared as any of several media types, which all mean the same JSON. */
export interface DeclaredBody {
  readonly mediaTypes: readonly string[]
  readonly schema: Node
}

/** What the contract says about one operation, with its references followed to the first schema. */
export interface ContractOperation {
  readonly id: OperationId
  /** Upper case. */
  readonly method: string
  /** Path template such as `/api/v1/relayers/{relayer_id}/sign`. */
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** The JSON request body; absent when the operation takes none. */
  readonly body?: DeclaredBody
  /** Status code → media type and schema of the answer. */
  readonly responses: ReadonlyMap<number, { readonly mediaType: string; readonly schema: Node }>
  /** The status of its success. */
  readonly successStatus: number
  /** False for the operations that ask for no credential. */
  readonly secured: boolean
}

/** openapi.yaml, read once, frozen, and in the forms in which it is needed. */
export interface Contract {
  readonly document: Node
  readonly operations: readonly ContractOperation[]
  /** The text of openapi.yaml as it is written. */
  readonly yaml: string
  /** The same document as JSON, with exact integers. */
  readonly json: string
}

/** The contract that belongs to this build; the file lies beside `src` and `dist`. */
const OPENAPI_YAML = new URL('../../openapi.yaml', import.meta.url)

/** Reads the contract. Fails when the file is missing, or not what the code relies on. */
export async function loadContract(file: URL = OPENAPI_YAML): Promise<Contract> {
  const yaml = await readFile(file, 'utf8')
  const document = deepFreeze(parse(yaml, { intAsBigInt: true, merge: false }) as Node)
  return Object.freeze({
    document,
    operations: readOperations(document),
    yaml,
    json: stringifyJson(document),
  })
}

/** Follows `$ref`s within the document until something else comes. */
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

interface Place {
  readonly path: string
  readonly method: string
  readonly item: Node
}

function readOperation(document: Node, { path, method, item }: Place): ContractOperation {
  const node = item[method] as Node
  const declared = [...((item.parameters ?? []) as Node[]), ...((node.parameters ?? []) as Node[])]
  const body = node.requestBody as Node | undefined
  const responses = readResponses(document, node.responses as Node)
  return Object.freeze({
    id: node.operationId as OperationId,
    method: method.toUpperCase(),
    path,
    parameters: declared.map((parameter) => readParameter(resolveReference(document, parameter))),
    ...(body && { body: readBody(body) }),
    responses,
    successStatus: [...responses.keys()].find((status) => status >= 200 && status < 300) ?? 200,
    secured: ((node.security ?? document.security) as unknown[]).length > 0,
  })
}

function readResponses(document: Node, responses: Node): ContractOperation['responses'] {
  return new Map(
    Object.entries(responses).map(([status, response]) => [
      Number(status),
      contentOf(resolveReference(document, response as Node)),
    ]),
  )
}

/** All media types of a body have the same schema: the service does not look at what was declared. */
function readBody(node: Node): DeclaredBody {
  const entries = Object.entries(node.content as Readonly<Record<string, Node>>)
  const [schema, ...others] = entries.map(([, media]) => media.schema as Node)
  if (schema === undefined || others.some((other) => !isDeepStrictEqual(other, schema)))
    throw new Error('openapi.yaml: one schema per request body, please')
  return { mediaTypes: entries.map(([mediaType]) => mediaType), schema }
}

function readParameter(node: Node): Parameter {
  return {
    name: node.name as string,
    in: node.in as Parameter['in'],
    schema: node.schema as Node,
    caseInsensitive: node['x-case-insensitive'] === true,
  }
}

/** The one media type of an answer. More than one would need negotiation, which the service does not do. */
function contentOf(node: Node): { mediaType: string; schema: Node } {
  const [entry, ...others] = Object.entries(node.content as Node)
  if (entry === undefined || others.length > 0)
    throw new Error('openapi.yaml: one media type per answer, please')
  return { mediaType: entry[0], schema: (entry[1] as Node).schema as Node }
}

function unescapePointer(step: string): string {
  return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) deepFreeze(inner)
  return value
}
