import {
  type Document,
  OpenAPIBackend,
  OpenAPIRouter,
  type Operation,
  type ParsedRequest,
  type Request,
} from 'openapi-backend'
import type { Contract, ContractOperation } from './document.ts'
import { forAjv } from './schemas.ts'

/** One path template of the contract, with a pattern that is compiled once. */
interface Route {
  readonly path: string
  readonly pattern: RegExp
  readonly parameters: readonly string[]
  /** Lower-case method → operation. */
  readonly operations: ReadonlyMap<string, Operation<Document>>
}

/**
 * ContractRouter is the router of openapi-backend without its work per request. The original rebuilds the
 * list of operations, compiles the pattern of every path, parses cookies and copies the headers on each
 * request, which cost four fifths of the throughput. The decision is the same, and a test compares the two.
 * It parses nothing either, because the original parses a body with JSON.parse, which rounds integers.
 */
export class ContractRouter extends OpenAPIRouter<Document> {
  /** By the number of slashes in their paths. */
  readonly #routes: ReadonlyMap<number, readonly Route[]>
  /** Those whose last parameter takes the rest of a path. */
  readonly #open: readonly Route[]
  readonly #operations: Operation<Document>[]
  readonly #byId: ReadonlyMap<string, Operation<Document>>

  constructor(contract: Contract) {
    super({ definition: definitionOf(contract) })
    this.#operations = super.getOperations()
    this.#byId = new Map(this.#operations.map((operation) => [operation.operationId ?? '', operation]))
    const rests = new Set(contract.operations.filter(takesRest).map(({ path }) => path))
    const routes = toRoutes(this.#operations, rests)
    this.#routes = Map.groupBy(routes, ({ path }) => slashesIn(path))
    this.#open = routes.filter(({ path }) => rests.has(path))
  }

  override getOperations(): Operation<Document>[] {
    return this.#operations
  }

  override getOperation(operationId: string): Operation<Document> | undefined {
    return this.#byId.get(operationId)
  }

  /**
   * Lists the methods of a path in upper case, with HEAD beside GET, and with OPTIONS. The list is empty for
   * an unknown path. If an exact path and a template match, the list is that of the exact path, because the
   * caller means it.
   */
  allowedMethods(path: string): readonly string[] {
    const [first] = this.#matches(path)
    const declared = [...(first?.route.operations.keys() ?? [])]
    if (declared.length === 0) return []
    const methods = declared.map((method) => method.toUpperCase())
    return [...methods, ...(declared.includes('get') ? ['HEAD'] : []), 'OPTIONS']
  }

  /**
   * Finds the operation, and puts the values of the path parameters into `request.params`. HEAD is routed
   * like GET.
   */
  override matchOperation(request: Request): Operation<Document> {
    const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase()
    let pathExists = false
    for (const { route, values } of this.#matches(request.path)) {
      pathExists = true
      const operation = route.operations.get(method)
      if (operation === undefined) continue
      request.params = toParams(route.parameters, values)
      return operation
    }
    throw new Error(pathExists ? '405-methodNotAllowed' : '404-notFound')
  }

  /** Takes a request that was read already as it is. Routing needs no more of another one than the path. */
  override parseRequest(request: Request | ParsedRequest): ParsedRequest {
    if ('requestBody' in request) return request
    const { method, path, params = {}, headers } = request
    return { method, path, params, headers, query: {}, cookies: {}, requestBody: undefined }
  }

  /**
   * Yields exact paths before templates: a method that the exact path does not have may exist on the
   * template.
   */
  *#matches(path: string): Generator<{ readonly route: Route; readonly values: RegExpExecArray }> {
    const trimmed = withoutTrailingSlashes(path)
    for (const route of this.#routes.get(slashesIn(trimmed)) ?? []) {
      const values = route.pattern.exec(trimmed)
      if (values !== null) yield { route, values }
    }
    for (const route of this.#open) {
      if (slashesIn(trimmed) <= slashesIn(route.path)) continue
      const values = route.pattern.exec(trimmed)
      if (values !== null) yield { route, values }
    }
  }
}

/**
 * Creates the openapi-backend that finds the operation of a request and calls the handler that is registered for it.
 *
 * - `definition` has no paths, because the router brings them, and `init` would follow the references of their schemas.
 * - `quick` skips the document check of openapi-backend, which knows only OpenAPI 3.0; `npm run check` lints the document.
 * - `validate` is off, because it would come before the body is read; the pipeline calls validator.ts after that.
 * - `strict` refuses a handler for an unknown operation.
 */
export async function createBackend(router: ContractRouter): Promise<OpenAPIBackend> {
  const definition: Document = { ...router.definition, paths: {} }
  const backend = new OpenAPIBackend({ definition, quick: true, strict: true, validate: false })
  await backend.init()
  backend.router = router
  return backend
}

/**
 * Reduces the contract to what openapi-backend needs: it wants parameters, bodies and their schemas without
 * references.
 */
function definitionOf({ operations }: Contract): Document {
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    const { method, path } = operation
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(operation) }
  }
  return { openapi: '3.1.0', info: { title: '', version: '' }, paths } as Document
}

function operationObject({ id, parameters, body }: ContractOperation): object {
  return {
    operationId: id,
    parameters: parameters.map(({ name, in: location, isRequired, schema }) => ({
      name,
      in: location,
      required: isRequired,
      schema: forAjv(schema),
    })),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: forAjv(body.schema) } } },
    }),
    responses: {},
  }
}

/** OpenAPI has no parameter for several segments, and neither has openapi-backend: `x-rest` is ours. */
function takesRest({ parameters }: ContractOperation): boolean {
  return parameters.some((parameter) => parameter.takesRest)
}

function toRoutes(operations: readonly Operation<Document>[], rests: ReadonlySet<string>): Route[] {
  const byPath = Map.groupBy(operations, (operation) => operation.path)
  return [...byPath]
    .sort(([one], [other]) => parametersOf(one).length - parametersOf(other).length)
    .map(([path, group]) => ({
      path,
      pattern: toPattern(path, rests.has(path)),
      parameters: parametersOf(path),
      operations: new Map(group.map((operation) => [operation.method, operation])),
    }))
}

function toPattern(path: string, takesRest: boolean): RegExp {
  const escaped = path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
  const last = takesRest ? escaped.replace(/\{[^}]+\}$/, '(.+)') : escaped
  return new RegExp(`^${last.replaceAll(/\{[^}]+\}/g, '([^/]+)')}$`, takesRest ? 's' : '')
}

function parametersOf(path: string): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name ?? '')
}

/** Counts the slashes: no parameter matches one, so a path only fits templates with the same number. */
function slashesIn(path: string): number {
  let count = 0
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) count += 1
  return count
}

/** Uses a loop, because a regular expression takes quadratic time on a path of many slashes. */
function withoutTrailingSlashes(path: string): string {
  let end = path.length
  while (end > 1 && path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

function toParams(names: readonly string[], values: RegExpExecArray): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, decode(values[index + 1] ?? '')]))
}

/**
 * Leaves a segment with broken percent signs as it is. No id contains a percent sign, so the request ends as
 * 404.
 */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
