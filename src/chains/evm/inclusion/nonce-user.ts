import { numberToHex } from 'viem/utils'
import type { PooledClient, RpcReply } from '../../rpc/rpc.ts'
import { readCount } from '../quantity.ts'
import { askEverywhere } from './everywhere.ts'
import { findNonceBlock, type NonceSearch } from './nonce-block.ts'

/**
 * The transaction of an account that used a nonce. `unnamed`: the count passed the nonce, and the blocks do not tell by which transaction;
 * authorizations and creations by delegated code raise the count as well (EIP-7702) · `pruned`: no endpoint has the state for the search ·
 * `unknown`: no reliable answer, and asking again may help.
 */
export type NonceUser =
  | { readonly kind: 'used'; readonly hash: string; readonly height: bigint }
  | { readonly kind: 'unnamed' | 'pruned' }
  | { readonly kind: 'unknown'; readonly detail: string }

/**
 * Finds the block in which the account's count passed the nonce, and reads in it which transaction used the nonce. The chain includes one
 * transaction for each account and nonce, so this transaction excludes all others.
 */
export async function findNonceUser(client: PooledClient, search: NonceSearch): Promise<NonceUser> {
  const { address, nonce, asOf, confirmations } = search
  const block = await findNonceBlock(client, search)
  if (block.kind === 'not_passed')
    return unknown(`the account has not used nonce ${nonce} in the chain up to block ${asOf}`)
  if (block.kind === 'unknown') return unknown('not every endpoint told the count of the account')
  if (block.kind === 'pruned') return { kind: 'pruned' }
  if (block.height + confirmations > asOf)
    return unknown(`nonce ${nonce} was used in block ${block.height}, which is not deep enough to be final`)
  const transactions = await readBlock(client, block.height, asOf)
  if (transactions === undefined) return unknown(`the endpoints do not agree about block ${block.height}`)
  const user = transactions.find(
    (one) => one.from.toLowerCase() === address.toLowerCase() && one.nonce === nonce,
  )
  return user === undefined ? { kind: 'unnamed' } : { kind: 'used', hash: user.hash, height: block.height }
}

function unknown(detail: string): NonceUser {
  return { kind: 'unknown', detail }
}

interface Entry {
  readonly hash: string
  readonly from: string
  readonly nonce: bigint
}

/** Reads a block; undefined unless an endpoint that is not behind has it, and all endpoints that have it agree. */
async function readBlock(client: PooledClient, height: bigint, asOf: bigint): Promise<Entry[] | undefined> {
  const call = { method: 'eth_getBlockByNumber', params: [numberToHex(height), true] }
  const { endpoints } = await askEverywhere(client, [call], asOf)
  const blocks = endpoints
    .filter(({ behind }) => !behind)
    .flatMap(({ replies: [reply] }) => (reply && readReply(reply, height)) ?? [])
  const [first] = blocks
  return first !== undefined && blocks.every(({ hash }) => hash === first.hash) ? first.entries : undefined
}

interface WireBlock {
  readonly number?: unknown
  readonly hash?: unknown
  readonly transactions?: unknown
}

function readReply(
  reply: RpcReply,
  height: bigint,
): { readonly hash: string; readonly entries: Entry[] } | undefined {
  if (reply.kind !== 'result') return undefined
  const { number, hash, transactions } = (reply.result ?? {}) as WireBlock
  if (readCount(number) !== height || typeof hash !== 'string' || !Array.isArray(transactions))
    return undefined
  const entries = transactions.map(readEntry)
  return entries.every((entry) => entry !== undefined) ? { hash, entries } : undefined
}

function readEntry(entry: unknown): Entry | undefined {
  const { hash, from, nonce } = (entry ?? {}) as { hash?: unknown; from?: unknown; nonce?: unknown }
  const number = readCount(nonce)
  return typeof hash === 'string' && typeof from === 'string' && number !== undefined
    ? { hash, from, nonce: number }
    : undefined
}
