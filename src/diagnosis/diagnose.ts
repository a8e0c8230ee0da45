import { larger, smaller } from '../lib/bigint.ts'
import { isBlockLate, isHeadStale, pausesWhenIdle } from '../networks/head-age.ts'
import { nameOfAccount, poolIdOf } from '../relayers/accounts/pool.ts'
import { wayOut } from '../relayers/chain-reset.ts'
import { privateFallbackBlocksOf } from '../relayers/policies/policy.ts'
import { afterReason } from '../transactions/model/after.ts'
import { isForLater, isScheduled } from '../transactions/model/due.ts'
import { isFinal } from '../transactions/model/transitions.ts'
import type { Diagnosis, Finding } from './diagnosis.ts'
import { type DiagnosisFacts, isUnmined } from './facts.ts'
import { nextAction } from './next-action.ts'
import { belowBaseFee, belowMarket, feeAtCap, feeAtLimit, raiseUnpaid } from './price.ts'

/** Derives the findings from the facts, the most urgent first, and the next action. Pure. */
export function diagnose(facts: DiagnosisFacts): Diagnosis {
  const rules = rulesFor(facts)
  const [first, ...rest] = rules.flatMap((rule) => rule(facts) ?? [])
  const found: readonly [Finding, ...Finding[]] = first ? [first, ...rest] : [inOrder(facts)]
  return { findings: found, nextAction: nextAction(facts, found) }
}

type Rule = (facts: DiagnosisFacts) => Finding | undefined

function rulesFor({ transaction, now }: DiagnosisFacts): readonly Rule[] {
  if (isScheduled(transaction, now)) return SCHEDULED_RULES
  return transaction.awaitsPrice === true ? AWAITING_PRICE_RULES : RULES
}

const RULES: readonly Rule[] = [
  final,
  awaitsApproval,
  undecided,
  chainReset,
  canceling,
  replacementWaiting,
  nodesSilent,
  chainHalted,
  switchedOff,
  signerSilent,
  missingPredecessor,
  waitingForFunds,
  inFlightLimit,
  noncePassed,
  queuedInPool,
  noPrivateEndpoint,
  notAccepted,
  stuck,
  belowBaseFee,
  feeAtCap,
  feeAtLimit,
  raiseUnpaid,
  behindOthers,
  belowMarket,
  keptPrivate,
  madePublic,
  nodesDisagree,
]

/** Nothing else matters before its time comes, or before another transaction. */
const SCHEDULED_RULES: readonly Rule[] = [
  awaitsApproval,
  awaitsTransaction,
  chainReset,
  scheduled,
  switchedOff,
]

/** Nothing else matters before the market comes down to its price. */
const AWAITING_PRICE_RULES: readonly Rule[] = [awaitsApproval, chainReset, awaitsPrice, switchedOff]

function awaitsPrice({ transaction }: DiagnosisFacts): Finding {
  return { code: 'awaits_price', message: transaction.statusReason ?? 'It waits for its price.' }
}

function final({ transaction }: DiagnosisFacts): Finding | undefined {
  if (!isFinal(transaction.status)) return undefined
  const reason = transaction.statusReason === undefined ? '' : ` ${transaction.statusReason}`
  return { code: 'final', message: `It has ended as ${transaction.status}.${reason}` }
}

function awaitsApproval({ transaction }: DiagnosisFacts): Finding | undefined {
  if (transaction.awaitsApproval !== true) return undefined
  return { code: 'awaits_approval', message: transaction.statusReason ?? 'It waits for an approval.' }
}

function awaitsTransaction({
  transaction: { after, awaitsTransaction },
}: DiagnosisFacts): Finding | undefined {
  if (after === undefined || awaitsTransaction === undefined) return undefined
  const otherwise = after.onFailure === 'cancel' ? 'this one is canceled' : 'this one is sent all the same'
  return {
    code: 'awaits_transaction',
    message: `${afterReason(after)} If that one fails or ends, ${otherwise}.`,
  }
}

function scheduled({ transaction: { request }, now }: DiagnosisFacts): Finding | undefined {
  if (!isForLater(request, now)) return undefined
  return {
    code: 'scheduled',
    message: `It waits for its valid_from, ${request.validFrom?.toISOString()}; others overtake it until then.`,
  }
}

function undecided({ transaction }: DiagnosisFacts): Finding | undefined {
  const { undecidedSince, statusReason, status } = transaction
  if (undecidedSince === undefined || isFinal(status)) return undefined
  return {
    code: 'undecided',
    message: statusReason ?? 'No endpoint can prove whether a block included it; an operator must decide.',
  }
}

function chainReset(facts: DiagnosisFacts): Finding | undefined {
  if (isFinal(facts.transaction.status)) return undefined
  const message = facts.chainReset ?? forgottenNonce(facts)
  return message === undefined ? undefined : { code: 'chain_reset', message }
}

/**
 * A reset of a chain whose first block is unknown, or unchanged, only shows by a used nonce that is next
 * again.
 */
function forgottenNonce({ relayer, chainNonce, confirmedNonce }: DiagnosisFacts): string | undefined {
  if (chainNonce === undefined || confirmedNonce === undefined || chainNonce > confirmedNonce)
    return undefined
  return `Nonce ${chainNonce} is next on the chain, but nonce ${confirmedNonce} of the account was confirmed: the chain of network ${relayer.network} was reset, or the queried node lags behind. ${wayOut({ type: relayer.networkType, name: relayer.network })}`
}

function canceling(facts: DiagnosisFacts): Finding | undefined {
  const { transaction } = facts
  if (isFinal(transaction.status) || transaction.purpose !== 'cancel') return undefined
  return {
    code: 'canceling',
    message: `The caller canceled it; ${cancelProgress(facts)}.${transaction.status === 'mined' ? '' : ' If a block includes the earlier version first, that one counts.'}`,
  }
}

/**
 * A pending successor is no longer kept back: the chain has proved that the earlier version is not included.
 */
function replacementWaiting({
  transaction: { purpose, status, statusReason },
}: DiagnosisFacts): Finding | undefined {
  if (purpose !== 'successor' || !isUnmined(status)) return undefined
  return {
    code: 'replacement_waiting',
    message:
      statusReason ??
      'Both versions could be included, so the new one is sent when the earlier one can no longer be included.',
  }
}

function cancelProgress({ transaction, content, expires }: DiagnosisFacts): string {
  if (content === 'cancel')
    return transaction.status === 'mined'
      ? 'a block includes the no-op that uses its nonce, and it ends when that block is final'
      : 'a no-op with its nonce was sent'
  return expires
    ? 'it ends when nothing that was signed before can be included any more'
    : 'a no-op with its nonce is signed next'
}

function stuck({ transaction }: DiagnosisFacts): Finding | undefined {
  const { stuckSince, status, statusReason } = transaction
  if (stuckSince === undefined || isFinal(status)) return undefined
  const reason = statusReason === undefined ? '' : ` ${statusReason}`
  return {
    code: 'stuck',
    message: `It was the first of its account's queue for too long at ${stuckSince.toISOString()}.${reason}`,
  }
}

function nodesSilent(facts: DiagnosisFacts): Finding | undefined {
  const { transaction, head, balance, chainNonce } = facts
  if (isFinal(transaction.status) || head || balance !== undefined || chainNonce !== undefined)
    return undefined
  return { code: 'nodes_silent', message: 'No node of the network answers.' }
}

/**
 * Nothing that waits for a block can continue, regardless of anything else. On a network that makes blocks on
 * demand, this transaction is the demand, so only the time since its broadcast counts.
 */
function chainHalted(facts: DiagnosisFacts): Finding | undefined {
  const { transaction, attempt, network, head, headState, now } = facts
  if (!isUnmined(transaction.status) && transaction.status !== 'mined') return undefined
  const waitedMs = attempt?.broadcastAt === undefined ? 0 : now - attempt.broadcastAt.getTime()
  const seenMs = headState?.ageMs ?? 0
  const ageMs = pausesWhenIdle(network) ? Math.min(seenMs, waitedMs) : seenMs
  if (isBlockLate(network, ageMs))
    return {
      code: 'chain_halted',
      message: `The network has made no block for ${seconds(ageMs)} s; one is expected every ${network.averageBlocktimeMs / 1_000} s. ${HALTED}`,
    }
  const blockMs = head?.time === undefined ? undefined : now - head.time.getTime()
  if (blockMs === undefined || !isHeadStale(network, blockMs)) return undefined
  return {
    code: 'chain_halted',
    message: `The newest block of the network has the time ${head?.time?.toISOString()}, ${seconds(blockMs)} s before that of this service. ${HALTED}`,
  }
}

const HALTED =
  'Nothing is included before the next one. If an explorer shows newer blocks, the endpoints no longer follow the network: replace their URLs.'

function seconds(ms: number): number {
  return Math.floor(ms / 1_000)
}

function switchedOff({ transaction, relayer }: DiagnosisFacts): Finding | undefined {
  if (transaction.status !== 'pending') return undefined
  if (relayer.paused)
    return {
      code: 'relayer_paused',
      message: `Relayer ${poolIdOf(relayer.id)} is paused; nothing is signed.`,
    }
  if (!relayer.systemDisabled) return undefined
  const reason = relayer.disabledReason?.details ?? 'A health check failed.'
  const name = nameOfAccount(relayer)
  return {
    code: 'relayer_disabled',
    message: `The service has disabled ${name.charAt(0).toLowerCase()}${name.slice(1)}. ${reason}`,
  }
}

function signerSilent({ transaction, signerProblem }: DiagnosisFacts): Finding | undefined {
  const { status } = transaction
  if (signerProblem === undefined || (status !== 'pending' && !isUnmined(status))) return undefined
  return {
    code: 'signer_unavailable',
    message: `Nothing can be signed for it now; signed transactions are still broadcast. ${signerProblem}`,
  }
}

function missingPredecessor({ missing }: DiagnosisFacts): Finding | undefined {
  if (missing.length === 0) return undefined
  return {
    code: 'missing_predecessor',
    message: `The chain waits for nonce ${missing.join(', ')}, which no transaction has; later nonces cannot be included.`,
  }
}

function waitingForFunds({ transaction, balance, reserved, unit }: DiagnosisFacts): Finding | undefined {
  if (transaction.status === 'mined' || isFinal(transaction.status) || balance === undefined) return undefined
  if (balance >= reserved + transaction.cost) return undefined
  return {
    code: 'waiting_for_funds',
    message: `The account can spend ${balance} ${unit}; this transaction can cost ${transaction.cost} and the others that are open ${reserved}.`,
  }
}

function inFlightLimit({ transaction, inFlight, inFlightLimit: limit }: DiagnosisFacts): Finding | undefined {
  if (transaction.status !== 'pending' || transaction.nonce !== undefined || inFlight < limit)
    return undefined
  return {
    code: 'in_flight_limit',
    message: `${inFlight} transaction${inFlight === 1 ? '' : 's'} of the account ${inFlight === 1 ? 'is' : 'are'} in flight, which is the limit; it is signed when one of them is mined.`,
  }
}

function noncePassed(facts: DiagnosisFacts): Finding | undefined {
  if (!hasPassed(facts)) return undefined
  const { transaction, chainNonce } = facts
  return {
    code: 'nonce_passed',
    message: `The next nonce on the chain is ${chainNonce}, so nonce ${transaction.nonce} is used; the service reads the receipts of all attempts.`,
  }
}

function hasPassed({ transaction, chainNonce }: DiagnosisFacts): boolean {
  const { nonce, status } = transaction
  return isUnmined(status) && nonce !== undefined && chainNonce !== undefined && nonce < chainNonce
}

/** A pool is reordered after each block, so the transaction gets this many blocks first. */
const QUEUED_BLOCKS = 3

function queuedInPool(facts: DiagnosisFacts): Finding | undefined {
  const { transaction, attempt, now, price, chainNonce, pendingNonce, network } = facts
  if (transaction.status !== 'submitted' || chainNonce === undefined || pendingNonce === undefined)
    return undefined
  // No pool of an ordinary node has it.
  if (isOnlyPrivate(transaction)) return undefined
  if (transaction.nonce !== chainNonce || pendingNonce > chainNonce) return undefined
  // A pool also queues what no block can include at its price.
  if (price?.baseFee !== undefined && price.bid < price.baseFee) return undefined
  const since = attempt?.broadcastAt?.getTime()
  if (since === undefined || now - since < QUEUED_BLOCKS * network.averageBlocktimeMs) return undefined
  return {
    code: 'queued_in_pool',
    message: `Nonce ${chainNonce} is next on the chain, but the queried node would not include it: its pool keeps it queued. The service broadcasts it to every endpoint, and raises its fee so that new bytes replace it, unless the caller set its price.`,
  }
}

function notAccepted(facts: DiagnosisFacts): Finding | undefined {
  const { transaction, attempt } = facts
  // A version whose successor waits is not broadcast any more.
  if (transaction.status !== 'sent' || transaction.purpose === 'successor' || hasPassed(facts))
    return undefined
  // The reason has the node's text, and what it means for a price or limit that the caller set.
  const reason = transaction.statusReason ?? attempt?.error
  return {
    code: 'not_taken',
    message: `It is signed, but no node has accepted it yet${reason === undefined ? '.' : `: ${reason}`}`,
  }
}

function behindOthers({ transaction, ahead }: DiagnosisFacts): Finding | undefined {
  // What waits for an approval has no nonce, and others overtake it.
  if (transaction.awaitsApproval === true) return undefined
  if (ahead === 0 || transaction.status === 'mined' || isFinal(transaction.status)) return undefined
  return {
    code: 'behind_others',
    message: `${ahead} transaction${ahead === 1 ? '' : 's'} of the account must be included first.`,
  }
}

/**
 * The tolerated difference between the heads of nodes, in blocks. A larger difference means that a node lags
 * behind.
 */
const TOLERATED_LAG = { wei: 2n, stroops: 2n, lamports: 32n } as const

function nodesDisagree({ endpoints, unit }: DiagnosisFacts): Finding | undefined {
  const heads = endpoints.flatMap(({ head }) => (head === undefined ? [] : [head]))
  if (heads.length < 2) return undefined
  const [lowest, highest] = [heads.reduce(smaller), heads.reduce(larger)]
  if (highest - lowest <= TOLERATED_LAG[unit]) return undefined
  return { code: 'nodes_disagree', message: `The nodes are between block ${lowest} and block ${highest}.` }
}

function inOrder({ transaction, head, requiredConfirmations }: DiagnosisFacts): Finding {
  if (transaction.status === 'pending') {
    const reason = transaction.statusReason === undefined ? '' : ` ${transaction.statusReason}`
    return { code: 'waiting_to_be_signed', message: `It is next to be signed.${reason}` }
  }
  if (transaction.status !== 'mined') {
    return {
      code: 'waiting_for_inclusion',
      message: 'Nodes have it, and its price is right; it waits for a block.',
    }
  }
  const condition =
    head?.finalNumber === undefined
      ? `${requiredConfirmations} must be on top of it`
      : `the network calls block ${head.finalNumber} final`
  return {
    code: 'waiting_for_confirmations',
    message: `Block ${transaction.block?.number} includes it; ${condition}.`,
  }
}

/** Returns true while only private endpoints may get the bytes. */
function isOnlyPrivate({ isPrivate, madePublicAt }: DiagnosisFacts['transaction']): boolean {
  return isPrivate === true && madePublicAt === undefined
}

/**
 * Finds a private transaction that is not broadcast, because its network no longer has a private endpoint.
 */
function noPrivateEndpoint({ transaction, relayer, privateEndpoints }: DiagnosisFacts): Finding | undefined {
  if (!isInFlight(transaction) || !isOnlyPrivate(transaction) || privateEndpoints !== undefined)
    return undefined
  return {
    code: 'no_private_endpoint',
    message: `It is private, and network ${relayer.network} has no private_rpc_urls, so its bytes are sent nowhere. Add some to the network (updateNetwork), or replace or cancel it; it is not broadcast publicly.`,
  }
}

/** Finds a transaction that only private endpoints have, and says until when. */
function keptPrivate(facts: DiagnosisFacts): Finding | undefined {
  const { transaction, privateEndpoints = [] } = facts
  if (transaction.status !== 'submitted' || !isOnlyPrivate(transaction) || privateEndpoints.length === 0)
    return undefined
  const hosts = [...new Set(privateEndpoints.map(({ host }) => host))].join(', ')
  return {
    code: 'kept_private',
    message: `Only the private endpoints (${hosts}) receive its bytes, so ordinary nodes do not see it before a block includes it. ${untilWhen(facts)}${whatItPays(facts)}`,
  }
}

function whatItPays({ raise }: DiagnosisFacts): string {
  if (raise?.kind !== 'wait' || raise.code !== 'builders_choice') return ''
  return ' It offers the market price, so its fee is not raised: the builders behind these endpoints decide.'
}

/** Finds a private transaction that ordinary endpoints get as well. */
function madePublic({ transaction }: DiagnosisFacts): Finding | undefined {
  const { madePublicAt, privateSinceBlock } = transaction
  if (!isInFlight(transaction) || madePublicAt === undefined) return undefined
  return {
    code: 'made_public',
    message: `It was private from block ${privateSinceBlock}, and no block included it in time; since ${madePublicAt.toISOString()} the ordinary endpoints receive it as well.`,
  }
}

function untilWhen({ transaction: { privateSinceBlock }, relayer, head }: DiagnosisFacts): string {
  const blocks = privateFallbackBlocksOf(relayer)
  if (blocks === undefined) return 'It stays so: the relayer has no private_fallback_blocks.'
  if (privateSinceBlock === undefined) return 'The ordinary endpoints have not returned the newest block yet.'
  const newest = head === undefined ? '' : `; the newest is ${head.number}`
  return `From block ${privateSinceBlock + BigInt(blocks)} on, the ordinary endpoints get it as well (private_fallback_blocks)${newest}.`
}

function isInFlight({ status }: DiagnosisFacts['transaction']): boolean {
  return status === 'sent' || status === 'submitted'
}
