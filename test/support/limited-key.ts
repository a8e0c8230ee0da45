import type { Answer, Service, Transaction } from './service.ts'

/** An amount of a limit, in decimal digits. */
interface Amount {
  readonly limit: string
  readonly spent: string
  readonly left: string
}

/** It says how much was spent. */
interface Usage {
  readonly limits: readonly {
    readonly rule: string
    readonly asset: string
    readonly value?: Amount
    readonly fees?: Amount
    readonly count?: Amount
  }[]
}

/** An API key with rules for what it may spend. */
export interface LimitedKey {
  readonly id: string
  /** One call with the key. */
  call<Data = Transaction>(
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Answer<Data>>
  /** Sends through relayer `main`. */
  send(body: object, headers?: Record<string, string>): Promise<Answer<Transaction>>
  usage(): Promise<Usage>
}

/** A key that sends needs these scopes. */
const SCOPES = ['relayers:read', 'transactions:read', 'transactions:write', 'sign']

/** Issues a key with these rules. */
export async function issueLimited(service: Service, rules: object): Promise<LimitedKey> {
  const key = { name: 'Limited', scopes: SCOPES, rules }
  const { body } = await service.api<{ id: string; secret: string }>('POST', '/api-keys', key)
  if (!body.success) throw new Error(`the key was refused: ${body.error}`)
  const { id, secret } = body.data
  const authorization = `Bearer ${secret}`
  const call: LimitedKey['call'] = (method, path, content, headers) =>
    service.api(method, path, content, { authorization, ...headers })
  return {
    id,
    call,
    send: (content, headers) => call('POST', '/relayers/main/transactions', content, headers),
    usage: () => usageOf(service, `/api-keys/${id}`),
  }
}

/** Reads how much the owner of this path has spent. */
export async function usageOf(service: Service, path: string): Promise<Usage> {
  return (await service.api<Usage>('GET', `${path}/usage`)).body.data
}

/** The answer without what changes from one request to the next. */
export function outcomeOf({ status, body: { code } }: Answer<unknown>): string {
  return code === undefined ? String(status) : `${status} ${code}`
}
