import { type Freshness, type InclusionProof, NO_REPLY, type Receipt } from '../../answer.ts'
import type { PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import { readCount } from '../read/quantity.ts'
import { readHead, toReceipt } from '../read/reads.ts'
import type { EvmAttempt } from '../types.ts'
import { type AskedEverywhere, askEverywhere, type EndpointReplies, isDefinitive } from './everywhere.ts'
import { findLandmark } from './history.ts'
import { findNonceUser } from './nonce-user.ts'

interface ProofContext {
  readonly client: PooledClient
  /** A block counts when this many blocks lie on top of it. */
  readonly confirmations: number
}

/** The question, and the client that answers it. */
interface Question extends ProofContext {
  readonly attempts: readonly EvmAttempt[]
  readonly hashes: readonly string[]
  readonly asOf: bigint
  readonly since: Date
}

/**
 * Proves whether the chain includes one of the attempts of a transaction.
 *
 * A receipt proves inclusion. The silence of a node proves nothing: `null` for a receipt is also the reply of a node that has pruned it
 * (Reth), or whose index of transactions does not cover it (geth). So `absent` needs one of two proofs:
 *
 * 1. By nonce: the block in which the account's count passed the nonce is deep enough and holds another transaction of the account with
 * this nonce. A chain includes one transaction for each account and nonce.
 * 2. By history, where no endpoint has the state to find that block: every endpoint knows none of the hashes, neither as receipt nor as
 * transaction, and one of them shows with an older transaction (a landmark) that its memory reaches back beyond `since`.
 *
 * Each endpoint answers two calls for each attempt, about two for each binary digit of the height, and one block with its transactions; for
 * the second proof as many headers, 65 headers around `since`, and the calls for the attempts again.
 */
export async function proveInclusion(
  context: ProofContext,
  attempts: readonly EvmAttempt[],
  freshness: Freshness = {},
): Promise<InclusionProof> {
  const asOf = freshness.asOf ?? (await newestBlock(context.client))
  if (asOf === undefined) return unknown('no endpoint returned the newest block')
  const hashes = attempts.map(({ signed }) => signed.hash)
  const question = { ...context, attempts, hashes, asOf, since: freshness.since ?? oldestSignature(attempts) }
  const asked = await askEverywhere(context.client, fateCalls(hashes), asOf)
  return evaluateFates(question, asked) ?? proveByNonces(question, asked)
}

async function newestBlock(client: PooledClient): Promise<bigint | undefined> {
  const head = await readHead(client, 'depth')
  return head.kind === 'ok' ? head.value.number : undefined
}

function oldestSignature(attempts: readonly EvmAttempt[]): Date {
  return new Date(Math.min(...attempts.map(({ signedAt }) => signedAt.getTime())))
}

/** Decides by any endpoint that has a block with one of the hashes; undefined if none has. Pure. */
function evaluateFates(question: Question, asked: AskedEverywhere): InclusionProof | undefined {
  const fates = asked.endpoints.map(({ replies }) => readLookups(replies))
  for (const ofEndpoint of fates) {
    for (const [index, fate] of ofEndpoint.entries()) {
      const attempt = question.attempts[index]
      if (fate.kind === 'included' && attempt)
        return { kind: 'included', number: attempt.number, receipt: fate.receipt }
    }
  }
  for (const [index, ofEndpoint] of fates.entries()) {
    const mined = ofEndpoint.findIndex(({ kind }) => kind === 'mined')
    const fate = ofEndpoint[mined]
    const hash = question.hashes[mined]
    if (fate?.kind === 'mined' && hash !== undefined) {
      const deep = fate.blockNumber + BigInt(question.confirmations) <= question.asOf
      const told = deep && asked.endpoints[index]?.behind === false
      return withoutReceipt(question, { hash, height: fate.blockNumber }, told && isComplete(asked))
    }
  }
  return undefined
}

/** Returns true if every endpoint gave a final reply. */
function isComplete({ endpoints, incomplete }: AskedEverywhere): boolean {
  return !incomplete && endpoints.every(({ replies }) => replies.every(isDefinitive))
}

function withoutReceipt(
  { attempts }: Question,
  { hash, height }: { readonly hash: string; readonly height: bigint },
  unprovable: boolean,
): InclusionProof {
  const number = attempts.find(({ signed }) => signed.hash === hash)?.number
  const fact = `Block ${height} includes attempt ${number} (${hash}), but no endpoint returned its receipt, so it is unknown whether it succeeded.`
  return unprovable ? undecidable(fact) : unknown(fact)
}

/** The other attempts were proved to be absent before. */
function isOpen({ outcome }: EvmAttempt): boolean {
  return outcome === 'signed' || outcome === 'broadcast' || outcome === 'refused'
}

/** Finds the user of each nonce that one of the attempts could have used. */
async function proveByNonces(question: Question, asked: AskedEverywhere): Promise<InclusionProof> {
  const { client, attempts, asOf } = question
  const open = attempts.filter(isOpen)
  const byNonce = Map.groupBy(
    open.length > 0 ? open : attempts,
    ({ sourceAccount, nonce }) => `${sourceAccount} ${nonce}`,
  )
  let isProved = true
  let usedBy: string | undefined
  for (const [attempt] of byNonce.values()) {
    if (attempt?.nonce === undefined) return unknown('an attempt has no nonce')
    const confirmations = BigInt(question.confirmations)
    const search = { address: attempt.sourceAccount, nonce: attempt.nonce, asOf, confirmations }
    const user = await findNonceUser(client, search)
    if (user.kind === 'unknown') return user
    if (user.kind === 'used' && question.hashes.includes(user.hash))
      return withoutReceipt(question, user, isComplete(asked))
    if (user.kind === 'used') usedBy = user.hash
    else isProved = false
  }
  return isProved ? { kind: 'absent', usedBy } : proveByHistory(question, asked)
}

/** Uses the memory of the endpoints for transactions, because the state for the proof by nonce is gone. */
async function proveByHistory(question: Question, before: AskedEverywhere): Promise<InclusionProof> {
  const { client, hashes, since, asOf } = question
  const landmark = await findLandmark(client, { since, asOf, ours: new Set(hashes) })
  if (landmark.kind === 'unknown') return unknown('no endpoint returned the headers of that time')
  if (landmark.kind === 'covered') return evaluateMemory(question, before)
  if (landmark.kind === 'ours') {
    const deep = landmark.height + BigInt(question.confirmations) <= asOf
    return withoutReceipt(question, landmark, deep && isComplete(before))
  }
  if (landmark.kind === 'none')
    return undecidable(
      `The blocks around ${since.toISOString()} contain no transaction to test how far back an endpoint remembers.`,
    )
  const calls = [{ method: 'eth_getTransactionReceipt', params: [landmark.hash] }, ...fateCalls(hashes)]
  const asked = await askEverywhere(client, calls, asOf)
  const ofHashes = { incomplete: !isComplete(asked), endpoints: asked.endpoints.map(withoutFirst) }
  const remembers = ({ replies: [reply] }: EndpointReplies) => {
    const receipt = reply && toReceipt({ reply, behind: false })
    return receipt?.kind === 'included' && receipt.receipt.blockNumber === landmark.height
  }
  const remembering = asked.endpoints.map(remembers)
  return evaluateFates(question, ofHashes) ?? evaluateMemory(question, ofHashes, remembering)
}

function withoutFirst({ behind, replies }: EndpointReplies): EndpointReplies {
  return { behind, replies: replies.slice(1) }
}

/**
 * Decides when no endpoint has the hashes in a block; that counts when an endpoint that is not behind would
 * have them. `remembering` says for each endpoint whether it showed that; all do if the service read the
 * blocks themselves. Pure.
 */
function evaluateMemory(
  { since }: Question,
  asked: AskedEverywhere,
  remembering?: readonly boolean[],
): InclusionProof {
  const fates: TransactionLookup[] = asked.endpoints.flatMap(({ replies }) => readLookups(replies))
  if (fates.some(({ kind }) => kind === 'known'))
    return unknown('an endpoint still holds one of the attempts')
  if (!isComplete(asked))
    return unknown('an endpoint is paused or does not answer, and may know one of the attempts')
  const current = asked.endpoints.filter(({ behind }) => !behind)
  const knowing = asked.endpoints.filter(
    ({ behind, replies }, index) =>
      !behind && remembering?.[index] !== false && readLookups(replies).every(({ kind }) => kind === 'null'),
  )
  if (knowing.length > 0) return { kind: 'absent' }
  if (current.length === 0) return unknown('every endpoint is behind the newest known block')
  return undecidable(
    `The nonce was used, and no endpoint keeps state, or transactions, back to ${since.toISOString()}, so nothing shows whether one of the attempts used it.`,
  )
}

function unknown(detail: string): InclusionProof {
  return { kind: 'unknown', detail }
}

/** A retry does not help, so an operator must decide. */
function undecidable(fact: string): InclusionProof {
  return { kind: 'unknown', detail: `${fact} Attach an archive endpoint.`, unprovable: true }
}

/**
 * The knowledge of one node about one hash. `mined`: a block holds it, and the node has deleted receipts of
 * that age · `known`: the node has it in no block · `null`: the node has neither transaction nor receipt, or
 * no longer has them · `unclear`: the node did not say.
 */
type TransactionLookup =
  | { readonly kind: 'included'; readonly receipt: Receipt }
  | { readonly kind: 'mined'; readonly blockNumber: bigint }
  | { readonly kind: 'known' }
  | { readonly kind: 'null' }
  | { readonly kind: 'unclear' }

/** Returns the calls for each hash, whose replies `readFates` reads. */
function fateCalls(hashes: readonly string[]): RpcCall[] {
  return hashes.flatMap((hash) => [
    { method: 'eth_getTransactionReceipt', params: [hash] },
    { method: 'eth_getTransactionByHash', params: [hash] },
  ])
}

/** Reads one node's replies to `fateCalls`, in the order of the hashes. */
function readLookups(replies: readonly RpcReply[]): TransactionLookup[] {
  return Array.from({ length: replies.length / 2 }, (_, index) =>
    readFate(replies[2 * index] ?? NO_REPLY, replies[2 * index + 1] ?? NO_REPLY),
  )
}

function readFate(receiptReply: RpcReply, transactionReply: RpcReply): TransactionLookup {
  const receipt = toReceipt({ reply: receiptReply, behind: false })
  if (receipt.kind === 'included') return receipt
  const transaction = readTransaction(transactionReply)
  if (transaction.kind !== 'null') return transaction
  return receipt.kind === 'none' ? transaction : { kind: 'unclear' }
}

function readTransaction(reply: RpcReply): Exclude<TransactionLookup, { kind: 'included' }> {
  if (reply.kind !== 'result') return { kind: 'unclear' }
  if (reply.result === null) return { kind: 'null' }
  const { hash, blockNumber } = reply.result as { hash?: unknown; blockNumber?: unknown }
  const height = readCount(blockNumber)
  if (height !== undefined) return { kind: 'mined', blockNumber: height }
  return typeof hash === 'string' ? { kind: 'known' } : { kind: 'unclear' }
}
