import { bidOf, compareRates } from './fees.ts'
import type { Frame } from './frame.ts'
import type { Network } from './network.ts'

/** The transactions of a ledger, and the price of an operation in it. */
export interface Pick {
  readonly frames: readonly Frame[]
  /** Stroops for each operation. More than the network's when not everybody got in. */
  readonly baseFee: bigint
}

/**
 * Picks the best bids that fit, highest rate first; a large one that does not fit leaves its capacity to smaller ones. When one was left
 * out, all pay the rate of the cheapest that was picked (stellar-core SurgePricingUtils.cpp `getMostTopTxsWithinLimits`, TxSetFrame.cpp
 * `computeLaneBaseFee`).
 */
export function pickFrames(
  candidates: readonly Frame[],
  capacity: number,
  sizeOf: (frame: Frame) => number,
  network: Network,
): Pick {
  // The tie is stellar-core's to break at random; by hash it is the same in each run.
  const best = [...candidates].sort(
    (a, b) => compareRates(bidOf(b), bidOf(a)) || (a.fullHash < b.fullHash ? -1 : 1),
  )
  const frames: Frame[] = []
  let free = capacity
  for (const frame of best) {
    if (sizeOf(frame) > free) continue
    frames.push(frame)
    free -= sizeOf(frame)
  }
  const cheapest = frames.at(-1)
  if (frames.length === candidates.length || !cheapest) return { frames, baseFee: network.baseFee }
  const { inclusionFee, operations } = bidOf(cheapest)
  return { frames, baseFee: inclusionFee / BigInt(operations) }
}
