import type { Receipt, ReceiptAnswer } from '../../chains/answer.ts'
import type { Attempt, Draft } from '../../chains/attempt.ts'
import { includedAttempt } from '../../chains/chain.ts'
import { omitUndefined } from '../../lib/object.ts'
import { sharesAccount } from '../../relayers/policies/policy.ts'
import { hashesOf, hashesOfAll, reservation, unprovenAttempts } from '../model/attempts.ts'
import { isExternallySigned } from '../model/runtime.ts'
import { afterCause } from '../model/status-reasons.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import type { Inclusion } from './inclusion-reason.ts'
import {
  expired,
  included,
  isClosed,
  type NonceLoss,
  nonceUsedElsewhere,
  outcome,
  type Resolution,
} from './resolution.ts'
import { STUCK_AFTER_MS } from './stuck.ts'
import { decidedAbsent, decidedIncluded, undecided } from './undecided.ts'
import { isFinalBlock, type WatchRound } from './watch-round.ts'

/**
 * Time in ms for which the answer "nonce used, no receipt" must stay the same before it is believed. On
 * chains with several blocks a second, the confirmation depth alone is shorter than the lag of a replica, and
 * this decision is final.
 */
const NO_RECEIPT_MS = 30_000

/**
 * Time in ms for which endpoints may be silent or behind before a missing proof is announced. An operator
 * replaces them, or decides.
 */
const DOUBT_MS = STUCK_AFTER_MS

/**
 * Resolves a transaction from the receipts of all its attempts: the chain decides which attempt counts (I4).
 * Undefined if nothing is new.
 */
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

/** The inclusion differs from the record, tells more, or has become final. */
function isNews({ transaction }: TransactionWithAttempts, { attempt, receipt }: Inclusion): boolean {
  const { status, currentAttempt, block } = transaction
  if (status !== 'mined' || receipt.final === true) return true
  if (block?.time === undefined && receipt.blockTime !== undefined) return true
  return currentAttempt !== attempt.number || block?.hash !== receipt.blockHash
}

/**
 * Resolves a transaction whose attempts have all expired. Every endpoint must prove that none of them was
 * included (I6).
 */
export async function resolveExpired(
  round: WatchRound,
  item: TransactionWithAttempts,
): Promise<Resolution | undefined> {
  return resolveWithProof(
    round,
    item,
    () => afterExpiry(round, item),
    () => doubtHistory(round, item.transaction),
  )
}

function afterExpiry(round: WatchRound, item: TransactionWithAttempts): Resolution {
  const now = round.context.clock.now()
  const { request } = item.transaction
  const end = round.chain.endsAt(request)
  // The time of the chain counts where it has one: a slow local clock would sign again after `valid_until`.
  const over = end !== undefined && end.getTime() <= Math.max(now, round.head.time?.getTime() ?? 0)
  const ownsNonce = !isSignedByOthers(round, item.transaction)
  const unanswered = round.chain.endpoints().some(({ healthy }) => !healthy)
  return expired(item, { ...nonceLoss(round, item.transaction), over, ownsNonce, unanswered })
}

function nonceLoss(round: WatchRound, transaction: Transaction): NonceLoss {
  const { context, chain } = round
  const { request, purpose } = transaction
  const isReSignable = chain.expiry?.reSignable(request) ?? true
  return {
    now: new Date(context.clock.now()),
    // A queued successor has never been signed, so it can be signed now, even if a third party signed the
    // attempt that it replaces.
    reSignable: purpose === 'successor' || (isReSignable && !isSignedByOthers(round, transaction)),
    nextNonce: purpose === 'successor' ? chain.externalSigning?.nonceOf(request) : undefined,
  }
}

/** The reason why a proof of absence does not count, or the fact that is missing before it can. */
type Doubt = { readonly because: string } | { readonly missing: string } | undefined

/**
 * Requests a proof about all attempts from the chain. An included attempt wins; the proof that none is
 * included yields `whenAbsent`. Without a proof nothing is decided (I6), unless an operator has decided
 * because no endpoint can supply one, or none did for a while.
 */
async function resolveWithProof(
  round: WatchRound,
  item: TransactionWithAttempts,
  whenAbsent: () => Resolution,
  /** Returns why a proof of absence does not show that nothing was executed; undefined if it does. */
  doubtAbsence: (usedBy: string | undefined) => Doubt | Promise<Doubt> = () => undefined,
): Promise<Resolution | undefined> {
  // For attempts that expired earlier, the proof was made at that time.
  const oldest = unprovenAttempts(item.attempts)[0] ?? item.attempts[0]
  const since = oldest && (round.chain.expiry?.preparedAt?.(oldest.draft) ?? oldest.signedAt)
  const { trustedChain = round.chain } = round.chain
  const proof = await trustedChain.proveInclusion(
    item.attempts,
    omitUndefined({ asOf: round.head.number, since }),
  )
  const { doubtSince } = round.memory
  const doubt = proof.kind === 'absent' ? await doubtAbsence(proof.usedBy) : undefined
  const missing = proof.kind === 'unknown' ? proof.detail : doubt && 'missing' in doubt && doubt.missing
  if (typeof missing !== 'string') doubtSince.delete(item.transaction.id)
  if (proof.kind === 'absent' && doubt === undefined)
    // Another user of the nonce was signed by the account's key, and no node can make that up.
    return proof.usedBy === undefined && trustedChain.endpoints().length < 2
      ? whenAbsent()
      : corroborated(whenAbsent())
  if (proof.kind === 'included') {
    const { number, receipt } = proof
    const attempt = item.attempts.find((other) => other.number === number)
    if (attempt !== undefined)
      return included(item, await describeInclusion(round, item.transaction, { attempt, receipt }))
  }
  const now = new Date(round.context.clock.now())
  const decision = round.decisions.get(item.transaction.id)
  if (decision?.included === true) return decidedIncluded(item, { decision, now })
  if (decision !== undefined) return decidedAbsent(whenAbsent(), decision)
  if (doubt && 'because' in doubt) return undecided(item, { detail: doubt.because, now })
  if (proof.kind === 'unknown' && proof.unprovable) return undecided(item, { detail: proof.detail, now })
  round.open = true
  return typeof missing === 'string' && isLong(round, item.transaction)
    ? undecided(item, { detail: missing, now })
    : undefined
}

/**
 * Nothing signed before was executed, regardless of any single endpoint, so the next version has the same
 * charge and approval.
 */
function corroborated({ isSuccessor: _, ...resolution }: Resolution): Resolution {
  return resolution
}

/** Returns true if the proof has been missing for so long that a person must check the endpoints. */
function isLong({ context: { clock }, memory: { doubtSince } }: WatchRound, { id }: Transaction): boolean {
  const now = clock.monotonic()
  const since = doubtSince.get(id) ?? now
  doubtSince.set(id, since)
  return now - since >= DOUBT_MS
}

/**
 * Finds the included attempt among the receipts, which are keyed by hash; undefined if no receipt shows one.
 */
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
    if (attempt === undefined || round.chain.expiry?.mayStillExecute?.(attempt.draft, receipt)) continue
    return describeInclusion(round, transaction, { attempt, receipt })
  }
  return undefined
}

/** Adds to the inclusion the reason of a revert, and what its receipt does not say. */
export async function describeInclusion(
  round: WatchRound,
  transaction: Transaction,
  { attempt, receipt }: { readonly attempt: Attempt; readonly receipt: Receipt },
): Promise<Inclusion> {
  round.memory.missingSince.delete(transaction.id)
  // The block is final already. The next round confirms the transaction, and must not wait for another block.
  if (receipt.final === undefined && isFinalBlock(round, receipt.blockNumber)) round.open = true
  const [reason, details] = await Promise.all([
    receipt.success
      ? undefined
      : (receipt.failure ?? revertReason(round, transaction, attempt, receipt.blockNumber)),
    round.chain.inclusionDetails?.(attempt.draft, receipt, transaction.request.payment),
  ])
  const { result, note } = details ?? {}
  return { attempt, receipt: result === undefined ? receipt : { ...receipt, result }, reason, note }
}

/**
 * The chain has passed the nonce, and no attempt has a receipt. The node may not have the receipt yet, or no
 * longer, or may always answer with an error, so this is believed only after the confirmation depth, a
 * waiting time, and a proof of absence (I6).
 */
async function resolveUsedNonce(
  round: WatchRound,
  item: TransactionWithAttempts,
): Promise<Resolution | undefined> {
  const { context, memory, head, confirmations } = round
  const now = context.clock.monotonic()
  const since = memory.missingSince.get(item.transaction.id) ?? { block: head.number, at: now }
  memory.missingSince.set(item.transaction.id, since)
  const deepEnough = head.number >= since.block + confirmations + 1n
  // On networks with a finality tag, depth alone is not enough.
  if (!deepEnough || !isFinalBlock(round, since.block)) return undefined
  if (now < since.at + NO_RECEIPT_MS) {
    round.open = true
    return undefined
  }
  const resolution = await resolveWithProof(
    round,
    item,
    () => nonceUsedElsewhere(item, nonceLoss(round, item.transaction)),
    (usedBy) => doubtNonceUser(round, item.transaction, usedBy),
  )
  // A proof is expensive for every endpoint, so it is tried again after the same wait and not in each round.
  if (resolution === undefined) memory.missingSince.set(item.transaction.id, { ...since, at: now })
  return resolution
}

/**
 * A transaction that the records do not know used the nonce, and only the account's key can sign one. If no
 * other program has the key, the service signed it, and its database has since gone back in time: what it
 * would sign again may have been executed with another fee, or replaced, or canceled. No-ops of the service
 * move nothing, so they just end.
 */
function doubtNonceUser(round: WatchRound, transaction: Transaction, usedBy: string | undefined): Doubt {
  const { purpose, nonce, relayerId } = transaction
  const relayer = round.relayers.get(relayerId)
  if (purpose === 'gap_filler' || purpose === 'setup' || isSignedByOthers(round, transaction))
    return undefined
  if (relayer === undefined || sharesAccount(relayer)) return undefined
  const user = usedBy === undefined ? 'a transaction' : `transaction ${usedBy}`
  const because = `Nonce ${nonce} was used by ${user} that the records do not contain. This service may have sent it before its database was restored from a backup, so this one may already be executed, replaced or canceled. If another program uses the key, set the policy shared_account.`
  return { because }
}

/**
 * Like `doubtNonceUser`, on chains whose accounts have no nonces: the account has signed a transaction that
 * the records do not know, which may be a later version of this one. Content that others have also signed
 * cannot have one.
 */
async function doubtHistory(round: WatchRound, transaction: Transaction): Promise<Doubt> {
  const { context, chain, relayers } = round
  const { request, purpose, relayerId } = transaction
  const relayer = relayers.get(relayerId)
  if (chain.history === undefined || relayer === undefined) return undefined
  if (purpose !== 'successor' && chain.expiry?.reSignable(request) === false) return undefined
  const check = await context.checkHistory(relayer, chain)
  if (check.kind === 'explained') return undefined
  if (check.kind === 'unknown') return { missing: `The history of the account is unknown: ${check.detail}.` }
  const named = check.transactions.map(({ hash }) => hash).join(', ')
  const because = `The account has signed ${named}, which the records do not contain. This service may have sent it before its database was restored from a backup, so this one may already be executed or canceled. If another program uses the key, set the policy shared_account.`
  return { because }
}

/** Source accounts differ between relayers, and one round covers many relayers. */
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
  return (await chain.revertReasons?.read(attempt.draft, from, block)) ?? 'unknown reason'
}

/**
 * The block of the included attempt is no longer in the chain. The same bytes are broadcast again, and every
 * attempt is open again (I7).
 */
export function reorged(
  item: TransactionWithAttempts,
  { now, costOf }: { now: Date; costOf: (draft: Draft) => bigint },
): Resolution {
  const { transaction, attempts } = item
  const reopened = attempts.filter((attempt) => !isClosed(attempt) && attempt.nonce === transaction.nonce)
  return {
    transaction: {
      ...transaction,
      status: nextStatus(transaction.status, 'reorged'),
      statusReason: afterCause(
        transaction,
        `Block ${transaction.block?.number} that included it is no longer in the chain; the same bytes are broadcast again.`,
      ),
      block: undefined,
      cost: reservation(
        reopened.map((attempt) => attempt.draft),
        costOf,
      ),
      nextRunAt: now,
    },
    outcomes: reopened.map((attempt) => ({ ...outcome(item, attempt, 'broadcast'), result: null })),
  }
}
