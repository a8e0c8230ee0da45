import createClient from 'openapi-fetch'
import type { paths } from '../../generated/api.d.ts'
import { parseJson, stringifyJson } from '../../src/contract/exact-integers.ts'
import { API_KEY } from '../support/service.ts'

/** One call that a client made. */
export interface Called {
  readonly method: string
  /** As the contract writes it, with its parameters in braces. */
  readonly path: string
}

/** The generated types are read-only throughout, and openapi-fetch takes a read-only list for an object. */
type Mutable<T> = T extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : T extends object
    ? { -readonly [Field in keyof T]: Mutable<T[Field]> }
    : T

/**
 * What anyone can make of the contract with openapi-fetch and the generated types: nothing in it knows the service. Integers
 * beyond 2^53 go out and come back exactly. `called` gets every call.
 */
export function createContractClient(baseUrl: string, called: Called[], secret = API_KEY) {
  const client = createClient<Mutable<paths>>({
    baseUrl,
    headers: { authorization: `Bearer ${secret}` },
    bodySerializer: (body) => stringifyJson(body),
    fetch: async (request) => readExactly(await fetch(request)),
  })
  client.use({
    onRequest: ({ request, schemaPath }) => {
      called.push({ method: request.method, path: schemaPath })
    },
  })
  return client
}

function readExactly(response: Response): Response {
  return Object.defineProperty(response, 'json', { value: async () => parseJson(await response.text()) })
}
