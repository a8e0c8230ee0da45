import type { RpcTransaction, Signature, TransactionSerializable, TransactionSerialized } from 'viem'
import { hexToBytes, numberToHex, serializeTransaction } from 'viem/utils'
import { keccak256Hex } from '../../../lib/keccak256.ts'
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
 * transaction for each account and nonce, so this transaction excludes all others. It counts only with the signature of the account: this
 * ends a transaction for good, and the word of a node alone is no reason for that.
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
  for (const transaction of transactions) {
    if (transaction.nonce !== nonce || transaction.from.toLowerCase() !== address.toLowerCase()) continue
    const { hash } = transaction
    return (await signerOf(transaction)) === address.toLowerCase()
      ? { kind: 'used', hash, height: block.height }
      : unknown(`transaction ${hash} of block ${block.height} is not signed by the account`)
  }
  return { kind: 'unnamed' }
}

function unknown(detail: string): NonceUser {
  return { kind: 'unknown', detail }
}

/**
 * Returns the address whose key signed these bytes, in lower case; undefined when their hash is another one than the node says, or they are of
 * a type without a signature. So a node cannot invent another user of a nonce: only the key of the account makes one.
 */
async function signerOf({ hash, wire }: Entry): Promise<string | undefined> {
  // Only the whole of viem has these functions, and loading that would take a tenth of every start.
  const { formatTransaction, recoverTransactionAddress } = await import('viem')
  try {
    const { r, s, v, yParity, typeHex: _, ...content } = formatTransaction(wire as Partial<RpcTransaction>)
    const transaction = { ...content, data: content.input } as TransactionSerializable
    const signature = { r, s, v, yParity } as Signature
    const serialized = serializeTransaction(transaction, signature)
    if (keccak256Hex(hexToBytes(serialized)) !== hash.toLowerCase()) return undefined
    const signer = await recoverTransactionAddress({
      serializedTransaction: serialized as TransactionSerialized,
    })
    return signer.toLowerCase()
  } catch {
    return undefined // viem throws for fields of another shape and for types that it does not know.
  }
}

interface Entry {
  readonly hash: string
  readonly from: string
  readonly nonce: bigint
  /** The transaction as the node returned it. */
  readonly wire: object
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
    ? { hash, from, nonce: number, wire: Object(entry) }
    : undefined
}
