import { bidOf, compareRates } from '../fees.ts'
import type { Moment, Network } from '../network.ts'
import type { Frame } from '../transaction/frame.ts'
import type { Answer } from './admission.ts'
import { createQueue, type Queue } from './queue.ts'

/** The transactions of a ledger, and the price of an operation in it. */
export interface Pick {
  readonly frames: readonly Frame[]
  /** Stroops for each operation. More than the network's when not everyone got in. */
  readonly baseFee: bigint
}

/**
 * Picks the best bids that fit, highest rate first; a large one that does not fit leaves its capacity to smaller ones. When one was left
 * out, all pay the rate of the cheapest that was picked (stellar-core SurgePricingUtils.cpp `getMostTopTxsWithinLimits`, TxSetFrame.cpp
 * `computeLaneBaseFee`).
 */
function pickFrames(
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

/** The capacity of a ledger. */
export interface Capacity {
  /** Operations of transactions without contracts. */
  readonly operations: number
  /** Transactions that run a contract. */
  readonly contractTransactions: number
}

/** Everything that waits: contract transactions and others queue apart, and pay different prices. */
export interface Mempool {
  submit(frame: Frame, moment: Moment, capacity: Capacity): Answer
  frames(): Frame[]
  /** Takes these out and refuses the same bytes for a while. */
  ban(frames: readonly Frame[]): void
  /** Chooses what the next ledger holds. */
  pick(capacity: Capacity): Picked[]
  /** A ledger with these has closed (HerderImpl.cpp `updateTransactionQueue`). */
  settle(applied: readonly Frame[]): void
  clear(): void
}

/** A frame that goes into the next ledger, and what each of its operations costs there. */
export interface Picked {
  readonly frame: Frame
  readonly baseFee: bigint
}

interface Lane {
  readonly queue: Queue
  readonly sizeOf: (frame: Frame) => number
  readonly limitOf: (capacity: Capacity) => number
  readonly takes: (frame: Frame) => boolean
}

/** Starts with nothing waiting. */
export function createMempool(network: Network): Mempool {
  const lanes = [classicLane(network), contractLane(network)]
  const laneOf = (frame: Frame) => lanes.find(({ takes }) => takes(frame))
  return {
    submit(frame, moment, capacity) {
      const lane = laneOf(frame)
      const { source } = frame.transaction
      // HerderImpl.cpp `recvTransaction`: an account waits in one of the two queues only.
      const isBusy = lanes.some((other) => other !== lane && other.queue.concerns(source))
      if (!lane || isBusy) return { status: 'TRY_AGAIN_LATER' }
      return lane.queue.add(frame, moment, lane.limitOf(capacity) * network.queueSizeLedgers)
    },
    frames: () => lanes.flatMap(({ queue }) => queue.frames()),
    ban(frames) {
      for (const { queue, takes } of lanes) queue.ban(frames.filter(takes))
    },
    pick: (capacity) =>
      lanes.flatMap(({ queue, sizeOf, limitOf }) => {
        const { frames, baseFee } = pickFrames(queue.frames(), limitOf(capacity), sizeOf, network)
        return frames.map((frame) => ({ frame, baseFee }))
      }),
    settle(applied) {
      for (const { queue, takes } of lanes) {
        queue.removeApplied(applied.filter(takes))
        queue.shift()
      }
    },
    clear: () => {
      for (const { queue } of lanes) queue.clear()
    },
  }
}

function classicLane(network: Network): Lane {
  const sizeOf = (frame: Frame) => frame.operationCount
  return {
    sizeOf,
    queue: createQueue(network, sizeOf),
    limitOf: ({ operations }) => operations,
    takes: ({ transaction }) => !transaction.soroban,
  }
}

function contractLane(network: Network): Lane {
  const sizeOf = () => 1
  return {
    sizeOf,
    queue: createQueue(network, sizeOf),
    limitOf: ({ contractTransactions }) => contractTransactions,
    takes: ({ transaction }) => transaction.soroban !== undefined,
  }
}
