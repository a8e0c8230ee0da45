import {
  type Document,
  OpenAPIRouter,
  type Operation,
  type ParsedRequest,
  type Request,
} from 'openapi-backend'
import type { Contract } from './document.ts'

/** The methods that a path has. */
export type Methods = readonly string[]

interface Route {
  readonly pattern: RegExp
  readonly names: readonly string[]
  /** Lower-case method → operation. */
  readonly operations: ReadonlyMap<string, Operation<Document>>
}

/**
 * openapi-backend's router with its work done once. The original builds the list of all operations anew, and compiles
 * the pattern of every path, on every request; it also parses cookies and clones the headers, which nobody here reads.
 * What it decides is unchanged: an exact path wins over a template, and errors start with 404 or 405.
 */
export class ContractRouter extends OpenAPIRouter<Document> {
  readonly #routes: readonly Route[]
  readonly #operations: Operation<Document>[]

  constructor(definition: Document) {
    super({ definition })
    this.#operations = super.getOperations()
    this.#routes = routesOf(this.#operations)
  }

  override getOperations(): Operation<Document>[] {
    return this.#operations
  }

  /**
   * The methods that the contract has for the path in upper case, HEAD beside GET and OPTIONS always; none when there is no such
   * path. Where an exact path and a template fit, those of the exact one: it is what the caller means.
   */
  methods(path: string): Methods {
    const [first] = this.#matches(path)
    const declared = new Set(first?.route.operations.keys())
    if (declared.size === 0) return []
    const upper = [...declared].map((method) => method.toUpperCase())
    return [...upper, ...(declared.has('get') ? ['HEAD'] : []), 'OPTIONS']
  }

  /** Finds the operation and leaves the values of the path parameters in `request.params`. HEAD is answered like GET. */
  override matchOperation(request: Request): Operation<Document> {
    const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase()
    let known = false
    for (const { route, values } of this.#matches(request.path)) {
      known = true
      const operation = route.operations.get(method)
      if (operation === undefined) continue
      request.params = paramsOf(route.names, values)
      return operation
    }
    throw new Error(known ? '405-methodNotAllowed' : '404-notFound')
  }

  override parseRequest(request: Request): ParsedRequest {
    const { method, path, params = {}, query = {}, headers, body } = request
    return { method, path, params, query, headers, cookies: {}, requestBody: body }
  }

  /** The routes of a path, exact ones first: a method that the exact path does not have may be one of the template. */
  *#matches(path: string): Generator<{ readonly route: Route; readonly values: RegExpExecArray }> {
    const trimmed = withoutTrailingSlashes(path)
    for (const route of this.#routes) {
      const values = route.pattern.exec(trimmed)
      if (values !== null) yield { route, values }
    }
  }
}

/** What the router needs of the contract: no schemas, so that nothing has to be dereferenced. */
export function routingDefinition({ document, operations }: Contract): Document {
  const paths: Record<string, Record<string, object>> = {}
  for (const { id, method, path, secured } of operations) {
    const security = secured ? [{ bearer: [] }] : []
    paths[path] = { ...paths[path], [method.toLowerCase()]: { operationId: id, security, responses: {} } }
  }
  const { securitySchemes } = document.components as { securitySchemes: object }
  return {
    openapi: '3.1.0',
    info: { title: '', version: '' },
    paths,
    components: { securitySchemes },
  } as Document
}

function routesOf(operations: readonly Operation<Document>[]): Route[] {
  const routes = Map.groupBy(operations, (operation) => operation.path)
  return [...routes]
    .sort(([one], [other]) => templates(one) - templates(other))
    .map(([path, group]) => ({
      pattern: new RegExp(
        `^${path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{[^}]+\}/g, '([^/]+)')}$`,
      ),
      names: [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name ?? ''),
      operations: new Map(group.map((operation) => [operation.method, operation])),
    }))
}

function templates(path: string): number {
  return path.split('{').length
}

/** By hand, as a regular expression for this takes quadratic time on a path of many slashes. */
function withoutTrailingSlashes(path: string): string {
  let end = path.length
  while (end > 1 && path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

/** A segment with broken percent signs stays as it is; it then is no id of anything. */
function paramsOf(names: readonly string[], values: RegExpExecArray): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, decode(values[index + 1] ?? '')]))
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
