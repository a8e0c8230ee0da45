import createClient, { type Client } from 'openapi-fetch'
import { requireRuntime, stringifyJson } from './exact-json.ts'
import type { paths } from './generated/api.ts'
import { OPERATIONS } from './generated/operations.ts'
import { BATCH_PATH, withItemKeys } from './transport/item-keys.ts'
import { createTransport } from './transport/transport.ts'

/** The generated types are read-only throughout, and openapi-fetch takes a read-only list for an object. */
type Mutable<T> = T extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : T extends object
    ? { -readonly [Field in keyof T]: Mutable<T[Field]> }
    : T

/**
 * The operations by their paths, with openapi-fetch: it returns failures instead of throwing them, and shows
 * the whole answer.
 */
export type RelayerHttp = Client<Mutable<paths>>

/** Settings of a client. */
export interface RelayerClientOptions {
  /** Scheme, host and port of the service, without `/api/v1`. */
  readonly baseUrl: string
  /**
   * The secret of an API key, or a function that returns the current one. Without it, requests count by the
   * cookie of the person who is signed in, which works only for pages of the service itself.
   */
  readonly apiKey?: string | (() => string | Promise<string>)
  /** Default: that of the platform. */
  readonly fetch?: (request: Request) => Promise<Response>
  /** The time for each try of a request, in ms. Default 30,000. */
  readonly timeoutMs?: number
  /** Default 3. The client repeats only what cannot take effect twice. */
  readonly maxRetries?: number
}

/**
 * Makes the HTTP client with exact integers, safe retries, the API key, and an idempotency key wherever the
 * contract has one.
 *
 * @throws Error if the runtime lacks what the client needs
 */
export function createHttp({
  baseUrl,
  apiKey,
  fetch = (request) => globalThis.fetch(request),
  timeoutMs = 30_000,
  maxRetries = 3,
}: RelayerClientOptions): RelayerHttp {
  requireRuntime()
  const http: RelayerHttp = createClient({
    baseUrl,
    // Another host would get neither the API key nor the whole request.
    redirect: 'manual',
    headers: { accept: 'application/json, text/event-stream;q=0.9, text/plain;q=0.8' },
    bodySerializer: stringifyJson,
    // As the contract says: `{ currency: 'EUR' }` is the parameter `currency`.
    querySerializer: { object: { style: 'form', explode: true } },
    fetch: createTransport({ fetch, timeoutMs, maxRetries }),
  })
  http.use({
    onRequest: async ({ request, schemaPath }) => {
      const { method, headers } = request
      if (apiKey === undefined) headers.set('x-csrf-protection', '1')
      else headers.set('authorization', `Bearer ${await secretOf(apiKey)}`)
      if (KEYED.has(`${method} ${schemaPath}`) && !headers.has('idempotency-key'))
        headers.set('idempotency-key', crypto.randomUUID())
      return schemaPath === BATCH_PATH ? withItemKeys(request) : request
    },
  })
  return http
}

/** Checks the secret first, because fetch would show one that it refuses in its error. */
async function secretOf(apiKey: NonNullable<RelayerClientOptions['apiKey']>): Promise<string> {
  const secret = typeof apiKey === 'string' ? apiKey : await apiKey()
  if (!/^[!-~]+$/.test(secret)) throw new TypeError('apiKey: expected visible ASCII characters, and no space')
  return secret
}

const KEYED: ReadonlySet<string> = new Set(
  Object.values(OPERATIONS)
    .flatMap((methods) => Object.values(methods))
    .filter(({ keyed }) => keyed)
    .map(({ method, path }) => `${method.toUpperCase()} ${path}`),
)
