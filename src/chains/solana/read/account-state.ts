import type { Answer } from '../../answer.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { recentSlot } from './recent.ts'
import { fieldsOf, freshOf, readInteger } from './replies.ts'

/** An account as a node tells of it. */
export interface AccountState {
  readonly lamports: bigint
  /** The program that owns it. */
  readonly owner: string
  readonly data: Uint8Array
}

/** Accounts in the order of their addresses, undefined where there is none, all of one slot. */
export interface AccountStates {
  readonly slot: bigint
  readonly accounts: readonly (AccountState | undefined)[]
}

/** Most addresses of one call (agave `MAX_MULTIPLE_ACCOUNTS`). A transaction has fewer writable ones and tables together. */
export const MAX_ACCOUNTS_ASKED = 100

/** How sure it is that a block stays: voted for by most of the cluster, or for ever. */
export type Commitment = 'confirmed' | 'finalized'

/** Accounts as the cluster has confirmed them, unless told otherwise. */
export async function readAccounts(
  client: PooledClient,
  addresses: readonly string[],
  commitment?: Commitment,
): Promise<Answer<AccountStates>> {
  const [endpointReply] = await client.sendAsOf([accountsCall(addresses, commitment)], recentSlot(client))
  return accountsIn(endpointReply)
}

/** The call for them. Everything that is compared is asked with the same commitment. */
export function accountsCall(addresses: readonly string[], commitment: Commitment = 'confirmed'): RpcCall {
  const asked = addresses.slice(0, MAX_ACCOUNTS_ASKED)
  return { method: 'getMultipleAccounts', params: [asked, { encoding: 'base64', commitment }] }
}

/** What the call answered. */
export function accountsIn(endpointReply: EndpointReply | undefined): Answer<AccountStates> {
  const answer = freshOf(endpointReply)
  if (answer.kind !== 'ok') return answer
  const accounts = readList(answer.value.value)
  return accounts === undefined
    ? { kind: 'unknown', detail: 'the endpoint did not answer with accounts' }
    : { kind: 'ok', value: { slot: answer.value.slot, accounts } }
}

/** A list of accounts; undefined when one of them cannot be read. */
export function readList(value: unknown): (AccountState | undefined)[] | undefined {
  if (!Array.isArray(value)) return undefined
  const read = value.map(readAccount)
  return read.includes('unreadable') ? undefined : (read as (AccountState | undefined)[])
}

function readAccount(value: unknown): AccountState | undefined | 'unreadable' {
  if (value === null) return undefined
  const { lamports, owner, data } = fieldsOf(value)
  const amount = readInteger(lamports)
  const [text] = Array.isArray(data) ? (data as unknown[]) : []
  if (amount === undefined || typeof owner !== 'string' || typeof text !== 'string') return 'unreadable'
  return { lamports: amount, owner, data: Uint8Array.from(Buffer.from(text, 'base64')) }
}
