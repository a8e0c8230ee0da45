import { toApiError } from './errors/to-api-error.ts'
import { OPERATIONS, type Resources } from './generated/operations.ts'
import type { RelayerHttp } from './http.ts'
import type { Operation } from './operation.ts'
import { createPages, type Page } from './pages.ts'

/** Makes a method of every operation of the generated table. It takes the values of the path in their order, then the body, then the options. */
export function createResources(http: RelayerHttp): Resources {
  const resources = Object.entries(OPERATIONS).map(([resource, operations]) => {
    const methods = Object.entries(operations).map(([name, operation]) => [
      name,
      createMethod(http, operation),
    ])
    return [resource, Object.fromEntries(methods)]
  })
  // The table and the types of the methods were generated together.
  return Object.fromEntries(resources) as Resources
}

type Fields = Readonly<Record<string, unknown>>

function createMethod(http: RelayerHttp, operation: Operation) {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return (...passed: readonly unknown[]) => {
    const path = Object.fromEntries(names.map((name, at) => [name, passed[at]]))
    const [body, options = {}] = (
      operation.body ? passed.slice(names.length) : [undefined, passed[names.length]]
    ) as [unknown, Fields?]
    const { signal, idempotencyKey, ...query } = options
    const header = { 'Idempotency-Key': idempotencyKey }
    const call = (query: Fields) =>
      callOperation(http, operation, { params: { path, query, header }, body, signal })
    const { paging } = operation
    return paging === undefined
      ? call(query).then(toData)
      : createPages((query) => call(query).then(toPage), { paging, query })
  }
}

/** The types of openapi-fetch are for one literal path at a time. */
type AnyRequest = (
  method: string,
  path: string,
  init: object,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>

/**
 * Calls an operation, and gives its body.
 *
 * @throws RelayerApiError for a failure, and RelayerConnectionError when there is no answer
 */
async function callOperation(http: RelayerHttp, operation: Operation, init: object): Promise<unknown> {
  const request = http.request as unknown as AnyRequest
  const { data, error, response } = await request(operation.method, operation.path, init)
  if (response.ok) return data
  if (response.status === operation.answers) return error
  throw toApiError(response, error)
}

function toData(body: unknown): unknown {
  const { success, data } = Object(body) as { readonly success?: unknown; readonly data?: unknown }
  return success === true ? data : body
}

type Pagination = NonNullable<Page<unknown>['pagination']> | { readonly next_cursor: string | null }

function toPage(body: unknown): Page<unknown> {
  const { data, pagination } = body as { readonly data: unknown[]; readonly pagination?: Pagination }
  if (pagination === undefined) return { items: data }
  return 'next_cursor' in pagination
    ? { items: data, nextCursor: pagination.next_cursor }
    : { items: data, pagination }
}
