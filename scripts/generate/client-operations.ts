import {
  type Contract,
  type ContractOperation,
  type Node,
  resolveReference,
} from '../../src/contract/document.ts'
import { argumentName, methodName, resourceName } from './method-name.ts'
import { wideFields } from './wide-fields.ts'

/** An operation with its place in the client. */
interface Method {
  readonly operation: ContractOperation
  readonly resource: string
  readonly name: string
  readonly summary: string
  /** What a caller passes before the options, in the order of the path. */
  readonly passed: readonly string[]
  readonly paging: 'page' | 'after' | 'before' | 'cursor' | undefined
}

/**
 * Creates the module that tells the client its operations: a table with what it needs to call them, and the methods of each resource with their
 * types and documentation. A stream has no method, because the client follows it in its own way.
 *
 * @throws Error if two operations of a resource have the same name
 */
export function clientOperations(contract: Contract): string {
  const methods = contract.operations
    .filter(({ successForm }) => successForm !== 'stream')
    .map((operation) => toMethod(operation, contract.document))
  const resources = [...Map.groupBy(methods, ({ resource }) => resource)]
  for (const [resource, all] of resources) requireDistinct(resource, all)
  return [
    "import type { Body, Data, DryRunOf, Options, SentBy } from '../operation-types.ts'",
    "import type { Operation } from '../operation.ts'",
    "import type { Pages } from '../pages.ts'",
    '',
    '/** The fields whose integers can exceed 2^53. */',
    `export const WIDE_FIELDS: ReadonlySet<string> = new Set(${JSON.stringify(wideFields(contract.document))})`,
    '',
    '/** What the client has to know of each operation to call it, by resource and method. */',
    'export const OPERATIONS: Readonly<Record<keyof Resources, Readonly<Record<string, Operation>>>> = {',
    ...resources.map(([resource, all]) => `  ${resource}: {\n${all.map(toEntry).join('')}  },`),
    '}',
    '',
    '/** The operations of the service, by the tags of its contract. */',
    'export interface Resources {',
    ...resources.map(([resource, all]) => `  readonly ${resource}: {\n${all.map(toSignatures).join('')}  }`),
    '}',
    '',
  ].join('\n')
}

function toMethod(operation: ContractOperation, document: Node): Method {
  const item = (document.paths as Node)[operation.path] as Node
  const { tags, summary } = item[operation.method.toLowerCase()] as { tags: [string]; summary: string }
  return {
    operation,
    resource: resourceName(tags[0]),
    name: methodName(operation.id, tags[0]),
    summary,
    passed: [
      ...[...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
        pathArgument(operation, name, document),
      ),
      ...(operation.body === undefined ? [] : [`body: Body<'${operation.id}'>`]),
    ],
    paging: (['page', 'after', 'before', 'cursor'] as const).find((name) =>
      operation.parameters.some((parameter) => parameter.in === 'query' && parameter.name === name),
    ),
  }
}

function requireDistinct(resource: string, methods: readonly Method[]): void {
  const names = methods.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    throw new Error(`${resource}.${twice} is two operations. Name one of them in method-name.ts.`)
}

function toEntry({ operation, name, paging }: Method): string {
  const entry = {
    method: operation.method.toLowerCase(),
    path: operation.path,
    ...(operation.body !== undefined && { body: true }),
    ...(paging !== undefined && { paging }),
    ...(takesKey(operation) && { keyed: true }),
    ...(answers503(operation) && { answers: 503 }),
  }
  const fields = Object.entries(entry).map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
  return `    ${name}: { ${fields.join(', ')} },\n`
}

/** Readiness answers 503 with the body of its success; elsewhere 503 is a failure. */
function answers503({ responses, successStatus }: Method['operation']): boolean {
  const schemaOf = (status: number) => JSON.stringify(responses.get(status)?.[0].schema)
  return responses.has(503) && schemaOf(503) === schemaOf(successStatus)
}

function toSignatures({ operation, name, summary, passed, paging }: Method): string {
  const { id, parameters } = operation
  const needs = needsOf(operation)
  const sign = (options: string, result: string) =>
    `    /** ${summary}: operation \`${id}\`. ${needs} */\n    ${name}(${[...passed, options].join(', ')}): ${result}\n`
  const plain = `options?: Options<'${id}'>`
  if (paging !== undefined) return sign(plain, `Pages<Data<'${id}'>[number]>`)
  if (!parameters.some((parameter) => parameter.name === 'dry_run'))
    return sign(plain, `Promise<Data<'${id}'>>`)
  return (
    sign(`options: Options<'${id}'> & { dry_run: true }`, `Promise<DryRunOf<'${id}'>>`) +
    sign(`options?: Options<'${id}'> & { dry_run?: false }`, `Promise<SentBy<'${id}'>>`)
  )
}

function needsOf({ scope, secured }: ContractOperation): string {
  if (scope !== undefined) return `It needs the scope \`${scope}\`.`
  return secured ? 'It needs an API key, and no scope.' : 'It needs no API key.'
}

function pathArgument({ parameters }: ContractOperation, name: string, document: Node): string {
  const schema = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.schema
  const { type } = resolveReference(document, schema ?? {})
  return `${argumentName(name)}: ${[type].flat().includes('integer') ? 'bigint | number' : 'string'}`
}

/** An operation that refuses the header declares it with the empty text as its only value. */
function takesKey({ parameters }: ContractOperation): boolean {
  return parameters.some(
    ({ in: place, name, schema }) =>
      place === 'header' && name === 'Idempotency-Key' && schema.const === undefined,
  )
}
