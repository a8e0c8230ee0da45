import type { RpcTransaction, Signature, TransactionSerializable, TransactionSerialized } from 'viem'
import { hexToBytes, numberToHex, serializeTransaction } from 'viem/utils'
import { smaller } from '../../../lib/bigint.ts'
import { keccak256Hex } from '../../../lib/hash.ts'
import type { PooledClient, RpcReply } from '../../rpc/rpc.ts'
import { readCount } from '../read/quantity.ts'
import { type AskedEverywhere, askEverywhere, isDefinitive } from './everywhere.ts'

/**
 * The transaction of an account that used a nonce. `unnamed`: the count passed the nonce, and the blocks do
 * not show by which transaction; authorizations and creations by delegated code raise the count as well
 * (EIP-7702) · `pruned`: no endpoint has the state for the search · `unknown`: no reliable reply; a retry may
 * help.
 */
type NonceUser =
  | { readonly kind: 'used'; readonly hash: string; readonly height: bigint }
  | { readonly kind: 'unnamed' | 'pruned' }
  | { readonly kind: 'unknown'; readonly detail: string }

/**
 * Finds the block in which the account's count passed the nonce, and reads in it which transaction used the
 * nonce. The chain includes one transaction for each account and nonce, so this transaction excludes all
 * others. It counts only with the signature of the account: this ends a transaction permanently, and a node's
 * word alone does not suffice for that.
 */
export async function findNonceUser(client: PooledClient, search: NonceSearch): Promise<NonceUser> {
  const { address, nonce, asOf, confirmations } = search
  const block = await findNonceBlock(client, search)
  if (block.kind === 'not_passed')
    return unknown(`the account has not used nonce ${nonce} in the chain up to block ${asOf}`)
  if (block.kind === 'unknown') return unknown('not every endpoint returned the count of the account')
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
 * Returns the address whose key signed these bytes, in lower case; undefined if their hash is another one
 * than the node says, or they are of a type without a signature. So a node cannot invent another user of a
 * nonce: only the key of the account makes one.
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

/**
 * Reads a block; undefined unless an endpoint that is not behind has it, and all endpoints that have it
 * agree.
 */
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

/** One request reads this many heights while the search goes back from the head. */
const HEIGHTS_PER_STEP = 8

/**
 * The block in which the account's transaction count passed a nonce. `not_passed`: the count had not passed
 * it by the demanded block · `pruned`: it had, and no endpoint still has the state of that time · `unknown`:
 * no endpoint answered, and one may answer later.
 */
type NonceBlock =
  | { readonly kind: 'found'; readonly height: bigint }
  | { readonly kind: 'not_passed' }
  | { readonly kind: 'pruned' }
  | { readonly kind: 'unknown' }

interface NonceSearch {
  readonly address: string
  readonly nonce: bigint
  /** The newest block of the search. */
  readonly asOf: bigint
  /** This many blocks must lie on top of the block that the search finds. */
  readonly confirmations: bigint
}

/**
 * Finds the lowest block after which `eth_getTransactionCount` is above the nonce: steps that double, back
 * from the head, then a binary search. It costs each endpoint at most about two calls for each binary digit
 * of the height, and few for a recent nonce. The result is only a hint: the block itself shows whether it
 * holds the transaction.
 */
async function findNonceBlock(client: PooledClient, search: NonceSearch): Promise<NonceBlock> {
  const bracket = await findBracket(client, search)
  if (bracket.kind !== 'bracket') return bracket
  let { below, above } = bracket
  while (above - below > 1n) {
    const middle = (above + below) / 2n
    const [passed] = await passedAt(client, search, [middle])
    if (passed === 'pruned' || passed === 'unknown' || passed === undefined)
      return { kind: passed ?? 'unknown' }
    if (passed === 'yes') above = middle
    else below = middle
  }
  return { kind: 'found', height: above }
}

type Bracket =
  | { readonly kind: 'bracket'; readonly below: bigint; readonly above: bigint }
  | { readonly kind: 'found'; readonly height: bigint }
  | { readonly kind: 'not_passed' | 'pruned' | 'unknown' }

async function findBracket(client: PooledClient, search: NonceSearch): Promise<Bracket> {
  const heights = heightsBack(search)
  let above: bigint | undefined
  for (let start = 0; start < heights.length; start += HEIGHTS_PER_STEP) {
    const step = heights.slice(start, start + HEIGHTS_PER_STEP)
    const passed = await passedAt(client, search, step)
    for (const [index, height] of step.entries()) {
      const here = passed[index] ?? 'unknown'
      if (here === 'pruned' || here === 'unknown') return { kind: above === undefined ? 'unknown' : here }
      if (here === 'no')
        return above === undefined ? { kind: 'not_passed' } : { kind: 'bracket', below: height, above }
      above = height
    }
  }
  return { kind: 'found', height: 0n }
}

/**
 * Lists the head, the blocks one, two, four … before it, the newest of them that is deep enough, and finally
 * the first block.
 */
function heightsBack({ asOf, confirmations }: NonceSearch): bigint[] {
  const back = new Set([0n, smaller(confirmations, asOf), asOf])
  for (let step = 1n; step < asOf; step *= 2n) back.add(step)
  return [...back].sort((a, b) => (a < b ? -1 : 1)).map((step) => asOf - step)
}

type Passed = 'yes' | 'no' | 'pruned' | 'unknown'

async function passedAt(
  client: PooledClient,
  { address, nonce, asOf }: NonceSearch,
  heights: readonly bigint[],
): Promise<Passed[]> {
  const calls = heights.map((height) => ({
    method: 'eth_getTransactionCount',
    params: [address, numberToHex(height)],
  }))
  const asked = await askEverywhere(client, calls, asOf)
  return heights.map((_, index) => readPassed(asked, index, nonce))
}

/**
 * Reads the count from any endpoint that is not behind and has the state; where endpoints differ, the lowest
 * count wins.
 */
function readPassed({ endpoints, incomplete }: AskedEverywhere, index: number, nonce: bigint): Passed {
  const current = endpoints.filter(({ behind }) => !behind)
  const counts = current.flatMap(({ replies }) => {
    const reply = replies[index]
    const count = reply?.kind === 'result' ? readCount(reply.result) : undefined
    return count === undefined ? [] : [count]
  })
  if (counts.length > 0) return counts.reduce(smaller) > nonce ? 'yes' : 'no'
  const told = endpoints.every(({ replies }) => {
    const reply = replies[index]
    return reply !== undefined && isDefinitive(reply)
  })
  return told && !incomplete && current.length > 0 ? 'pruned' : 'unknown'
}
