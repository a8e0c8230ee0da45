import type { Network } from './network.ts'
import { divideUp, smaller } from './state/assets.ts'
import type { Frame, Transaction } from './transaction/frame.ts'

/**
 * The fee rate of a replacement must be this many times that of the queued transaction (stellar-core `TransactionQueue::FEE_MULTIPLIER`).
 */
const REPLACEMENT_FACTOR = 10n

/** A bid, and the number of operations that it pays for. */
export interface Bid {
  readonly inclusionFee: bigint
  readonly operations: number
}

/** The fee that a contract transaction declares for its resources; 0 for others. */
export function resourceFee(transaction: Transaction): bigint {
  return transaction.soroban?.resourceFee ?? 0n
}

/** Returns the bid for inclusion: everything but the resource fee (`TransactionFrame::getInclusionFee`). */
export function inclusionFee(frame: Frame): bigint {
  return frame.fee - resourceFee(frame.transaction)
}

/** The bid of a frame, as the queue and the ledger compare it. */
export function bidOf(frame: Frame): Bid {
  return { inclusionFee: inclusionFee(frame), operations: Math.max(1, frame.operationCount) }
}

/** The least inclusion fee of this many operations (`getMinInclusionFee`). */
export function minimumInclusionFee(operations: number, network: Network): bigint {
  return network.baseFee * BigInt(Math.max(1, operations))
}

/** Compares the bids for an operation: above 0 when `a` is higher (stellar-core `feeRate3WayCompare`). */
export function compareRates(a: Bid, b: Bid): number {
  const left = a.inclusionFee * BigInt(b.operations)
  const right = b.inclusionFee * BigInt(a.operations)
  if (left === right) return 0
  return left > right ? 1 : -1
}

/**
 * The full fee that `next` must offer to take the place of `current` in the queue; undefined if it offers enough.
 * stellar-core `canReplaceByFee` in TransactionQueue.cpp: ten times the rate, rounded up, compared without the resource fee.
 */
export function feeToReplace(current: Frame, next: Frame): bigint | undefined {
  const [old, bid] = [bidOf(current), bidOf(next)]
  const needed = old.inclusionFee * BigInt(bid.operations) * REPLACEMENT_FACTOR
  if (bid.inclusionFee >= 0n && bid.inclusionFee * BigInt(old.operations) >= needed) return undefined
  return divideUp(needed, BigInt(old.operations)) + resourceFee(next.transaction)
}

/** The full fee with which `frame` would offer more than `evicted` did (stellar-core `computeBetterFee`). */
export function feeToBeat(evicted: Bid, frame: Frame): bigint {
  const same = (evicted.inclusionFee * BigInt(bidOf(frame).operations)) / BigInt(evicted.operations)
  return same + 1n + resourceFee(frame.transaction)
}

/**
 * Returns the charge in a ledger whose operations cost `baseFee` each: never more than the bid (`TransactionFrame::getFee` while applying).
 */
export function chargedFee(frame: Frame, baseFee: bigint): bigint {
  const price = baseFee * BigInt(bidOf(frame).operations)
  const bid = inclusionFee(frame)
  return resourceFee(frame.transaction) + smaller(bid, price)
}

/** Returns the fee that a validation reports when it fails later (`TransactionFrame::getFee` while not applying). */
export function nominalFee(frame: Frame, baseFee: bigint): bigint {
  return resourceFee(frame.transaction) + baseFee * BigInt(bidOf(frame).operations)
}
