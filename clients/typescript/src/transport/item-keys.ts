import { parseJson, stringifyJson } from '../exact-json.ts'
import type { paths } from '../generated/api.ts'

/** The path of the batch in the contract. */
export const BATCH_PATH = '/api/v1/relayers/{relayer_id}/transactions/batch' satisfies keyof paths

const BATCH = /^\/api\/v1\/relayers\/[^/]+\/transactions\/batch$/

/** Returns true for the request of a batch. The service recognises each item by its key, so it can be repeated. */
export function isBatch({ method, url }: Request): boolean {
  return method === 'POST' && BATCH.test(new URL(url).pathname)
}

/** Gives each item of a batch that has no idempotency key one of its own. The service explains a body of another form. */
export async function withItemKeys(request: Request): Promise<Request> {
  const body = parseJson(await request.clone().text()) as { readonly transactions?: unknown }
  const { transactions } = Object(body) as typeof body
  if (!Array.isArray(transactions)) return request
  const keyed = transactions.map((item: unknown) =>
    typeof item === 'object' && item !== null ? { idempotency_key: crypto.randomUUID(), ...item } : item,
  )
  return new Request(request, { body: stringifyJson({ ...body, transactions: keyed }) })
}
