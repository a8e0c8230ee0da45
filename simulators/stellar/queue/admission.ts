import { type Bid, bidOf, compareRates, feeToBeat, feeToReplace, inclusionFee } from '../fees.ts'
import type { Moment } from '../network.ts'
import { hasHiddenMemo, hasValidFee } from '../soroban/validity.ts'
import { availableBalance } from '../state/entries.ts'
import { knownAccount } from '../state/state.ts'
import type { Frame } from '../transaction/frame.ts'
import { type FrameResult, isSuccess, type Outcome } from '../transaction/results.ts'
import { checkValid } from '../transaction/validity.ts'

/** The answer of a node to a submission; `frameResult` contains the reason of an ERROR. */
export type Answer =
  | { readonly status: 'PENDING' | 'DUPLICATE' | 'TRY_AGAIN_LATER' }
  | { readonly status: 'ERROR'; readonly frameResult: FrameResult }

/** The answer to what may be taken another time. */
export const TRY_AGAIN: Answer = { status: 'TRY_AGAIN_LATER' }

/** The part of `TransactionQueue::tryAdd` and `canAdd` before the ledger: the form of the fee, and what the same account has waiting. */
export function compareWithQueued(frame: Frame, current: Frame | undefined): Answer | undefined {
  if (!hasValidFee(frame.transaction) || inclusionFee(frame) < 0n) return error('txMalformed', 0n)
  if (!current) return undefined
  if (isDuplicate(current, frame)) return { status: 'DUPLICATE' }
  const [sequence, queued] = [frame.transaction.sequence, current.transaction.sequence]
  if (sequence < queued) return error('txBadSeq', 0n)
  if (frame.kind !== 'feeBump' || sequence !== queued) return TRY_AGAIN
  const needed = feeToReplace(current, frame)
  return needed === undefined ? undefined : error('txInsufficientFee', needed)
}

/** The same envelope, or one that waits wrapped in a fee bump already (`isDuplicateTx`). */
function isDuplicate(current: Frame, next: Frame): boolean {
  if (current.kind === next.kind) return current.fullHash === next.fullHash
  return current.kind === 'feeBump' && current.transaction.fullHash === next.fullHash
}

/** The part of `canAdd` that asks the ledger: validity, and whether the payer can pay for everything that waits. */
export function checkAgainstLedger(
  frame: Frame,
  current: Frame | undefined,
  queued: readonly Frame[],
  moment: Moment,
): Answer | undefined {
  const frameResult = checkValid(frame, moment)
  if (!isSuccess(frameResult)) return { status: 'ERROR', frameResult }
  if (hasHiddenMemo(frame.transaction)) {
    const hidden: Outcome = { code: 'txSorobanInvalid', feeCharged: 0n, operations: [] }
    return {
      status: 'ERROR',
      frameResult: frameResult.inner ? { ...frameResult, inner: hidden } : { ...frameResult, ...hidden },
    }
  }
  const pledged = queued
    .filter((other) => other !== current && other.feeSource === frame.feeSource)
    .reduce((sum, { fee }) => sum + fee, 0n)
  const payer = knownAccount(moment.view, frame.feeSource)
  if (availableBalance(payer, moment.network.baseReserve) - frame.fee < pledged) {
    return error('txInsufficientBalance', frameResult.feeCharged)
  }
  return undefined
}

/** The capacity of a queue. */
export interface Fixture {
  /** In the unit of `sizeOf`. */
  readonly limit: number
  readonly sizeOf: (frame: Frame) => number
  readonly evicted: Bid | undefined
}

/**
 * Chooses the transactions to evict so that `frame` fits; returns an answer when its bid is too low for that. stellar-core
 * `TxQueueLimiter::canAddTx` and `SurgePricingPriorityQueue::canFitWithEviction`.
 */
export function chooseEvictions(
  frame: Frame,
  current: Frame | undefined,
  queued: readonly Frame[],
  { limit, sizeOf, evicted }: Fixture,
): { readonly evict: readonly Frame[] } | { readonly answer: Answer } {
  if (sizeOf(frame) > limit) return { answer: TRY_AGAIN }
  // A transaction with a lower bid than one that was evicted in this ledger does not enter.
  if (evicted && compareRates(evicted, bidOf(frame)) >= 0) {
    return { answer: error('txInsufficientFee', feeToBeat(evicted, frame)) }
  }
  const others = queued.filter((other) => other !== current)
  const cheapestFirst = [...others].sort((a, b) => compareRates(bidOf(a), bidOf(b)))
  let excess = others.reduce((sum, other) => sum + sizeOf(other), sizeOf(frame)) - limit
  const evict: Frame[] = []
  for (const loser of cheapestFirst) {
    if (excess <= 0) break
    if (compareRates(bidOf(loser), bidOf(frame)) >= 0) {
      return { answer: error('txInsufficientFee', feeToBeat(bidOf(loser), frame)) }
    }
    if (loser.transaction.source === frame.transaction.source) return { answer: TRY_AGAIN }
    evict.push(loser)
    excess -= sizeOf(loser)
  }
  return { evict }
}

function error(
  code: 'txMalformed' | 'txBadSeq' | 'txInsufficientFee' | 'txInsufficientBalance',
  feeCharged: bigint,
): Answer {
  return { status: 'ERROR', frameResult: { code, feeCharged, operations: [] } }
}
