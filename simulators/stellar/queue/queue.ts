import { type Bid, bidOf } from '../fees.ts'
import type { Moment, Network } from '../network.ts'
import type { Frame } from '../transaction/frame.ts'
import {
  type Answer,
  checkAgainstLedger,
  chooseEvictions,
  compareWithQueued,
  TRY_AGAIN,
} from './admission.ts'

/** The envelopes that are refused for some ledgers; stellar-core `TransactionQueue::mBannedTransactions`. */
export interface Bans {
  add(frame: Frame): void
  has(frame: Frame): boolean
  /** A ledger has closed. */
  shift(): void
  clear(): void
}

/** Starts without any; each lasts for `ledgers` ledgers. */
function createBans(ledgers: number): Bans {
  const none = () => Array.from({ length: ledgers }, () => new Set<string>())
  let byAge = none()
  return {
    add: ({ fullHash }) => void byAge[0]?.add(fullHash),
    has: ({ fullHash }) => byAge.some((hashes) => hashes.has(fullHash)),
    shift() {
      byAge = [new Set(), ...byAge.slice(0, -1)]
    },
    clear() {
      byAge = none()
    },
  }
}

/** The transactions that wait for a ledger, at most one of each source account; stellar-core `TransactionQueue`. */
export interface Queue {
  /** Adds a transaction, or returns the reason against it. `limit` is the capacity of the queue, in the unit of `sizeOf`. */
  add(frame: Frame, moment: Moment, limit: number): Answer
  frames(): Frame[]
  /** Returns true if the account is the source, or the payer, of a waiting transaction. */
  concerns(address: string): boolean
  /** Takes out what is applied or has become impossible by it, and refuses the same bytes for a while. */
  removeApplied(applied: readonly Frame[]): void
  /** Takes these out and refuses the same bytes for a while. */
  ban(frames: readonly Frame[]): void
  /** A ledger has closed: what waits is one ledger older, and the oldest leave. */
  shift(): void
  /** The node has lost everything that waited, and forgotten what it banned. */
  clear(): void
}

interface Waiting {
  readonly frame: Frame
  /** The number of ledgers that have closed without it. A replacement inherits it. */
  readonly age: number
}

interface State {
  readonly network: Network
  readonly sizeOf: (frame: Frame) => number
  /** By source account. */
  readonly waiting: Map<string, Waiting>
  readonly bans: Bans
  /** The best bid that was turned out since the last ledger. */
  evicted: Bid | undefined
}

/** Starts an empty queue; `sizeOf` measures what fills it. */
export function createQueue(network: Network, sizeOf: (frame: Frame) => number): Queue {
  const state: State = {
    network,
    sizeOf,
    waiting: new Map(),
    bans: createBans(network.banLedgers),
    evicted: undefined,
  }
  return {
    add: (frame, moment, limit) => add(state, frame, moment, limit),
    frames: () => framesOf(state),
    concerns: (address) =>
      framesOf(state).some(({ feeSource, transaction }) => [feeSource, transaction.source].includes(address)),
    removeApplied: (applied) => removeApplied(state, applied),
    ban: (frames) => ban(state, frames),
    shift: () => shift(state),
    clear() {
      state.waiting.clear()
      state.bans.clear()
      state.evicted = undefined
    },
  }
}

/** `tryAdd` and `canAdd`, in the order of their checks. */
function add(state: State, frame: Frame, moment: Moment, limit: number): Answer {
  const { waiting, bans, sizeOf, evicted } = state
  const current = waiting.get(frame.transaction.source)
  const refusal = bans.has(frame) ? TRY_AGAIN : compareWithQueued(frame, current?.frame)
  if (refusal) return refusal
  const queued = framesOf(state)
  const choice = chooseEvictions(frame, current?.frame, queued, { limit, sizeOf, evicted })
  if ('answer' in choice) {
    ban(state, [frame])
    return choice.answer
  }
  const invalid = checkAgainstLedger(frame, current?.frame, queued, moment)
  if (invalid) return invalid
  for (const loser of choice.evict) state.evicted = bidOf(loser)
  ban(state, choice.evict)
  waiting.set(frame.transaction.source, { frame, age: current?.age ?? 0 })
  return { status: 'PENDING' }
}

function removeApplied({ waiting, bans }: State, applied: readonly Frame[]): void {
  for (const frame of applied) {
    const { source, sequence } = frame.transaction
    const queued = waiting.get(source)
    if (queued && queued.frame.transaction.sequence <= sequence) waiting.delete(source)
    bans.add(frame)
  }
}

function ban({ waiting, bans }: State, frames: readonly Frame[]): void {
  for (const frame of frames) {
    bans.add(frame)
    const { source } = frame.transaction
    if (waiting.get(source)?.frame.fullHash === frame.fullHash) waiting.delete(source)
  }
}

function shift(state: State): void {
  const { waiting, bans, network } = state
  bans.shift()
  state.evicted = undefined
  for (const [source, { frame, age }] of waiting) {
    if (age + 1 < network.queueLedgers) waiting.set(source, { frame, age: age + 1 })
    else ban(state, [frame])
  }
}

function framesOf({ waiting }: State): Frame[] {
  return [...waiting.values()].map(({ frame }) => frame)
}
