import type { Answer } from '../../answer.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { recentSlot } from './recent.ts'
import { fieldsOf, freshOf, readInteger } from './replies.ts'

/** An account as a node reports it. */
export interface AccountState {
  readonly lamports: bigint
  /** The program that owns it. */
  readonly owner: string
  readonly data: Uint8Array
}

/** Accounts in the order of their addresses, all of one slot; undefined where an account does not exist. */
export interface AccountStates {
  readonly slot: bigint
  readonly accounts: readonly (AccountState | undefined)[]
}

/**
 * The highest number of addresses of one call (agave `MAX_MULTIPLE_ACCOUNTS`). A transaction has fewer writable accounts and tables
 * together.
 */
export const MAX_ACCOUNTS_ASKED = 100

/** `confirmed`: most of the cluster has voted for the block · `finalized`: the block stays for ever. */
export type Commitment = 'confirmed' | 'finalized'

/** Reads accounts, with the commitment `confirmed` by default. */
export async function readAccounts(
  client: PooledClient,
  addresses: readonly string[],
  commitment?: Commitment,
): Promise<Answer<AccountStates>> {
  const [endpointReply] = await client.sendAsOf([accountsCall(addresses, commitment)], recentSlot(client))
  return accountsIn(endpointReply)
}

/** Returns the call for the accounts. States that are compared must have the same commitment. */
export function accountsCall(addresses: readonly string[], commitment: Commitment = 'confirmed'): RpcCall {
  const asked = addresses.slice(0, MAX_ACCOUNTS_ASKED)
  return { method: 'getMultipleAccounts', params: [asked, { encoding: 'base64', commitment }] }
}

/** Reads the reply to `accountsCall`. */
export function accountsIn(endpointReply: EndpointReply | undefined): Answer<AccountStates> {
  const answer = freshOf(endpointReply)
  if (answer.kind !== 'ok') return answer
  const accounts = readList(answer.value.value)
  return accounts === undefined
    ? { kind: 'unknown', detail: 'the endpoint did not answer with accounts' }
    : { kind: 'ok', value: { slot: answer.value.slot, accounts } }
}

/** Reads a list of accounts; undefined when one of them cannot be read. */
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
