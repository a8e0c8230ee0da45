import { createWalletClient, http, publicActions } from 'viem'
import { foundry } from 'viem/chains'
import type { Schemas } from '../../../src/contract/operations.ts'
import type { Scenario } from '../../support/scenario.ts'
import { API_KEY, DEV_ADDRESSES, type Service } from '../../support/service.ts'

/** A reply of JSON-RPC. */
interface Reply {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

const urlOf = ({ url }: Service, relayer: string) => `${url}/api/v1/relayers/${relayer}/rpc`

/** Sends a body to …/rpc of a relayer, and gives the answer. */
export async function post<Answer = Reply>(
  service: Service,
  body: object,
  { secret = API_KEY, relayer = 'main' }: { secret?: string; relayer?: string } = {},
): Promise<Answer> {
  const response = await fetch(urlOf(service, relayer), {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Answer
}

/** Makes one call, and gives the result. Fails with the error. */
export async function request(service: Service, method: string, ...params: unknown[]): Promise<unknown> {
  const { result, error } = await post(service, { id: 1, method, params })
  if (error) throw new Error(`${error.code} ${error.message}`)
  return result
}

/** The secret of a new key with these rights. */
export async function issue(
  service: Service,
  rights: { scopes: Schemas['Scope'][]; rules?: object; relayers?: string[] },
): Promise<string> {
  const { body } = await service.api<{ secret: string }>('POST', '/api-keys', { name: 'Limited', ...rights })
  return body.data.secret
}

/** The number of transactions that the relayer has accepted. */
export async function countOf({ service }: Scenario): Promise<number | undefined> {
  const { body } = await service.api<unknown>('GET', '/relayers/main/transactions?per_page=0')
  return body.pagination?.total_items
}

/** A wallet client of viem that knows nothing but the url and the API key. */
export function walletOf(service: Service) {
  const transport = http(urlOf(service, 'main'), {
    fetchOptions: { headers: { authorization: `Bearer ${API_KEY}` } },
  })
  return createWalletClient({ account: DEV_ADDRESSES[0], chain: foundry, transport }).extend(publicActions)
}
