import { expect } from 'vitest'
import type { Answer, Service, Story, Transaction } from './service.ts'

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
  /** The same key at another service of the same database. */
  at(service: Service): LimitedKey
}

/** A key that sends needs these scopes. */
const SCOPES = ['relayers:read', 'transactions:read', 'transactions:write', 'sign']

/** Issues a key with these rules. */
export async function issueLimited(service: Service, rules: object): Promise<LimitedKey> {
  const key = { name: 'Limited', scopes: SCOPES, rules }
  const { body } = await service.api<{ id: string; secret: string }>('POST', '/api-keys', key)
  if (!body.success) throw new Error(`the key was refused: ${body.error}`)
  return keyAt(service, body.data)
}

function keyAt(service: Service, issued: { readonly id: string; readonly secret: string }): LimitedKey {
  const { id, secret } = issued
  const authorization = `Bearer ${secret}`
  const call: LimitedKey['call'] = (method, path, content, headers) =>
    service.api(method, path, content, { authorization, ...headers })
  return {
    id,
    call,
    send: (content, headers) => call('POST', '/relayers/main/transactions', content, headers),
    usage: () => usageOf(service, `/api-keys/${id}`),
    at: (other) => keyAt(other, issued),
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

/** Gives the sentence of a refusal by a rule; throws for every other answer. */
export function violationIn(answer: Answer<unknown>): string {
  const { code, error } = answer.body
  if (answer.status !== 400 || code !== 'rule_violated' || error === undefined)
    throw new Error(`a rule should have refused it, and the answer is ${outcomeOf(answer)}: ${error}`)
  return error
}

/** Sends with the root key what the rules of relayer `main` refuse, expects that nothing is counted, and gives the sentences. */
export async function violationsOfMain(
  { service, post }: Story,
  bodies: readonly object[],
): Promise<string[]> {
  const { limits: before } = await usageOf(service, '/relayers/main')
  const sentences: string[] = []
  for (const body of bodies) sentences.push(violationIn(await post(body)))
  expect((await usageOf(service, '/relayers/main')).limits).toEqual(before)
  return sentences
}
