import type { Answer } from './admission.ts'
import type { Frame } from './frame.ts'
import type { Moment } from './moment.ts'
import type { Network } from './network.ts'
import { createQueue, type Queue } from './queue.ts'
import { pickFrames } from './surge.ts'

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
