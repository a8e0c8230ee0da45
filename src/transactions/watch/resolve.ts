import type { Receipt, ReceiptAnswer } from '../../chains/answer.ts'
import type { Attempt } from '../../chains/attempt.ts'
import { includedAttempt } from '../../chains/included-attempt.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import { hashesOf, hashesOfAll } from '../model/attempt-hashes.ts'
import { unprovenAttempts } from '../model/open-attempts.ts'
import { isExternallySigned } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import type { Inclusion } from './inclusion-reason.ts'
import { expired, included, nonceUsedElsewhere, type Resolution, reorged } from './resolution.ts'
import { decidedAbsent, decidedIncluded, undecided } from './undecided.ts'
import { isFinalBlock, type WatchRound } from './watch-round.ts'

/**
 * How long the answer "nonce used, no receipt" has to stay the same before it is believed, in ms. Where blocks come several
 * times a second, depth alone is shorter than a replica can lag behind; and what is believed here is final.
 */
const MISSING_MS = 30_000

/** Every hash is asked for; the chain decides which attempt counts (I4). */
export async function resolveTransaction(
  round: WatchRound,
  item: TransactionWithAttempts,
  receipts: ReadonlyMap<string, ReceiptAnswer | undefined>,
): Promise<Resolution | undefined> {
  const inclusion = await inclusionOf(round, item, receipts)
  if (inclusion) return isNews(item, inclusion) ? included(item, inclusion) : undefined
  const isUnclear = hashesOfAll(round.chain, item.attempts).some(
    (hash) => receipts.get(hash)?.kind !== 'none',
  )
  if (isUnclear) round.open = true
  if (item.transaction.status === 'mined') {
    if (isUnclear) return undefined
    return reorged(item, { now: new Date(round.context.clock.now()), costOf: round.chain.cost })
  }
  if (!round.passed.has(item.transaction.id)) return undefined
  return resolveUsedNonce(round, item)
}

/** Not when the record says so already, and it is not final yet either. */
function isNews({ transaction }: TransactionWithAttempts, { attempt, receipt }: Inclusion): boolean {
  const { status, currentAttempt, block } = transaction
  if (status !== 'mined' || receipt.final === true) return true
  return currentAttempt !== attempt.number || block?.hash !== receipt.blockHash
}

/** Its attempts can be included no more; every endpoint has to say that none of them was (I6). */
export async function resolveExpired(
  round: WatchRound,
  item: TransactionWithAttempts,
): Promise<Resolution | undefined> {
  return settleWithProof(round, item, () => afterExpiry(round, item))
}

function afterExpiry(round: WatchRound, item: TransactionWithAttempts): Resolution {
  const now = round.context.clock.now()
  const { request, purpose } = item.transaction
  const end = round.chain.endsAt(request)
  // The chain's own time counts where it has one: a clock of ours that is behind would sign again what is over.
  const over = end !== undefined && end.getTime() <= Math.max(now, round.head.time?.getTime() ?? 0)
  // What is to follow was never signed here: whoever else has signed it, it has its first turn now.
  const reSignable = purpose === 'successor' || (round.chain.expiry?.reSignable(request) ?? true)
  const externallySigned = !reSignable || isSignedByOthers(round, item.transaction)
  return expired(item, { now: new Date(now), over, externallySigned })
}

/**
 * Asks whether any attempt was included. With the proof that none was, what follows is `whenAbsent`; an attempt that was included wins over
 * everything. Without a proof nothing is decided, unless an operator has decided because there will never be one.
 */
async function settleWithProof(
  round: WatchRound,
  item: TransactionWithAttempts,
  whenAbsent: () => Resolution,
): Promise<Resolution | undefined> {
  // What lapsed before was proved to be out then.
  const since = (unprovenAttempts(item.attempts)[0] ?? item.attempts[0])?.signedAt
  const proof = await round.chain.proveInclusion(
    item.attempts,
    omitUndefined({ asOf: round.head.number, since }),
  )
  if (proof.kind === 'absent') return whenAbsent()
  const attempt =
    proof.kind === 'included' ? item.attempts.find(({ number }) => number === proof.number) : undefined
  if (attempt !== undefined && proof.kind === 'included')
    return included(
      item,
      await describeInclusion(round, item.transaction, { attempt, receipt: proof.receipt }),
    )
  const now = new Date(round.context.clock.now())
  const decision = round.decisions.get(item.transaction.id)
  if (decision?.attempt !== undefined)
    return decidedIncluded(item, { attempt: decision.attempt, decision, now })
  if (decision !== undefined) return decidedAbsent(whenAbsent(), decision)
  if (proof.kind === 'unknown' && proof.unprovable) return undecided(item, { detail: proof.detail, now })
  round.open = true
  return undefined
}

/** The first attempt that one of these receipts, by hash, is about. */
export async function inclusionOf(
  round: WatchRound,
  { transaction, attempts }: TransactionWithAttempts,
  receipts: ReadonlyMap<string, ReceiptAnswer | undefined>,
): Promise<Inclusion | undefined> {
  for (const hash of hashesOfAll(round.chain, attempts)) {
    const answer = receipts.get(hash)
    if (answer?.kind !== 'included') continue
    const { receipt } = answer
    const candidates = attempts.filter((attempt) => hashesOf(round.chain, attempt).includes(hash))
    const attempt = includedAttempt(attempts, { receipt, candidates })
    if (attempt !== undefined) return describeInclusion(round, transaction, { attempt, receipt })
  }
  return undefined
}

/** The inclusion with the reason of a revert. */
async function describeInclusion(
  round: WatchRound,
  transaction: Transaction,
  { attempt, receipt }: { readonly attempt: Attempt; readonly receipt: Receipt },
): Promise<Inclusion> {
  round.memory.missingSince.delete(transaction.id)
  // Final already: the next look says so, and must not wait for a block that may be long in coming.
  if (receipt.final === undefined && isFinalBlock(round, receipt.blockNumber)) round.open = true
  const reason = receipt.success
    ? undefined
    : (receipt.failure ?? (await revertReason(round, transaction, attempt, receipt.blockNumber)))
  return { attempt, receipt, reason }
}

/**
 * The account's nonce has passed and none of our attempts has a receipt, as far as the node that was asked tells: it may know the nonce
 * and not yet the receipt, or no longer, or answer with an error for ever. Only after the network's depth, and some time, and with a
 * proof, is it true.
 */
async function resolveUsedNonce(
  round: WatchRound,
  item: TransactionWithAttempts,
): Promise<Resolution | undefined> {
  const { context, memory, head, confirmations } = round
  const now = context.clock.now()
  const since = memory.missingSince.get(item.transaction.id) ?? { block: head.number, at: now }
  memory.missingSince.set(item.transaction.id, since)
  const deepEnough = head.number >= since.block + confirmations + 1n
  // Where the chain itself says what is final, depth alone is not enough.
  if (!deepEnough || !isFinalBlock(round, since.block)) return undefined
  if (now < since.at + MISSING_MS) {
    round.open = true
    return undefined
  }
  const resolution = await settleWithProof(round, item, () =>
    nonceUsedElsewhere(item, { now: new Date(now), reSignable: !isSignedByOthers(round, item.transaction) }),
  )
  // A proof asks every endpoint for much: it is tried again after the same wait, not at each look.
  if (resolution === undefined) memory.missingSince.set(item.transaction.id, { ...since, at: now })
  return resolution
}

/** Each relayer has lines of its own, and many of them are watched in one look. */
function isSignedByOthers({ context, relayers }: WatchRound, transaction: Transaction): boolean {
  const relayer = relayers.get(transaction.relayerId)
  return relayer !== undefined && isExternallySigned(context.runtimeOf(relayer), transaction)
}

async function revertReason(
  { chain, relayers }: WatchRound,
  transaction: Transaction,
  attempt: Attempt,
  block: bigint,
) {
  const from = relayers.get(transaction.relayerId)?.address ?? ''
  return (await chain.revertReasons?.read(attempt.draft, from, block)) ?? 'no reason could be read'
}
