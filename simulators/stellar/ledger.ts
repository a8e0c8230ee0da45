import { createMarket, type Market } from './apply/market.ts'
import { applyFrame, type Closing, refund, takeFee } from './apply/transaction.ts'
import { type AppliedTransaction, type Chain, type ClosedLedger, createChain } from './chain.ts'
import type { Moment, Network } from './network.ts'
import type { Answer } from './queue/admission.ts'
import { type Capacity, createMempool, type Mempool, type Picked } from './queue/mempool.ts'
import type { NodeFault } from './rpc/node.ts'
import type { Programs } from './soroban/contracts.ts'
import { larger } from './state/assets.ts'
import { availableBalance } from './state/entries.ts'
import { type Changes, createChanges, createHistory, type History, knownAccount } from './state/state.ts'
import type { Frame } from './transaction/frame.ts'
import { isSuccess, toResultXdr } from './transaction/results.ts'
import { checkValid } from './transaction/validity.ts'

/** A network of one node: what waits, what has closed, and every entry at every time. */
export interface Ledger {
  readonly network: Network
  readonly chain: Chain
  readonly history: History
  readonly mempool: Mempool
  readonly market: Market
  readonly programs: Programs
  capacity: Capacity
  /** The present fault of all RPC servers. */
  nodeFault: NodeFault
  submit(frame: Frame): Answer
  /**
   * Makes the next ledger; it closes at this time, in seconds since 1970, or as soon after the last as the protocol allows: in the next second,
   * or in the same one (CAP-88).
   */
  close(closeTime: number): ClosedLedger
  /**
   * Another validator has kept this frame, and puts it into the next ledger if it is valid there, whatever the queue of this one holds: a
   * ledger is what one validator nominates.
   */
  nominate(frame: Frame): void
  /** Changes entries by hand, as if the last ledger had. */
  amend(change: (changes: Changes) => void): void
  /** The next this many searches for a transaction miss the newest ledger, because it closes just then. */
  tearReads(count: number): void
  /** 1 for a search that misses the newest ledger, else 0. */
  takeTornRead(): number
}

/**
 * A transaction may be applied later than now by twice the expected close time of a ledger (HerderUtils `getUpperBoundCloseTimeOffset`).
 */
const EXPECTED_CLOSE_TIME_FACTOR = 2

/** The first protocol with close times in milliseconds (CAP-88). */
const MILLISECOND_PROTOCOL = 30

/** Starts a network. `now` gives the time in ms since 1970. */
export function createLedger(network: Network, capacity: Capacity, now: () => number): Ledger {
  const seconds = () => Math.floor(now() / 1000)
  const chain = createChain(network, seconds())
  const history = createHistory()
  const mempool = createMempool(network)
  let torn = 0
  const nominated: Frame[] = []
  const shortest = network.protocolVersion >= MILLISECOND_PROTOCOL ? 0 : 1
  const ledger: Ledger = {
    network,
    chain,
    history,
    mempool,
    market: createMarket(),
    programs: new Map(),
    capacity,
    nodeFault: 'none',
    submit: (frame) => mempool.submit(frame, waitingMoment(ledger, seconds()), ledger.capacity),
    close: (closeTime) =>
      closeLedger(ledger, {
        closeTime: Math.max(closeTime, chain.latest().closeTime + shortest),
        seconds,
        nominated: nominated.splice(0),
      }),
    nominate: (frame) => void nominated.push(frame),
    amend(change) {
      const { sequence } = chain.latest()
      const changes = createChanges(history.at(sequence))
      change(changes)
      history.write(sequence, changes)
    },
    tearReads(count) {
      torn = count
    },
    takeTornRead() {
      if (torn === 0) return 0
      torn -= 1
      return 1
    },
  }
  return ledger
}

/** Returns the moment against which a node checks a submission: the last ledger, and the latest close of the next. */
function waitingMoment({ network, chain, history }: Ledger, seconds: number): Moment {
  const { sequence, closeTime } = chain.latest()
  const drift = Math.max(0, seconds - closeTime)
  return {
    network,
    view: history.at(sequence),
    ledger: sequence + 1,
    closeTime: BigInt(closeTime),
    earliest: 0n,
    latest: BigInt(drift + network.ledgerSeconds * EXPECTED_CLOSE_TIME_FACTOR),
    applying: false,
  }
}

interface Closure {
  readonly closeTime: number
  readonly seconds: () => number
  readonly nominated: readonly Frame[]
}

function closeLedger(ledger: Ledger, { closeTime, seconds, nominated }: Closure): ClosedLedger {
  const { network, chain, history, mempool, market, programs } = ledger
  const last = chain.latest()
  const offset = BigInt(closeTime - last.closeTime)
  // HerderImpl.cpp `triggerNextLedger`: what the next ledger could not apply is not put into it.
  const moment = { ...waitingMoment(ledger, seconds()), earliest: offset, latest: offset }
  mempool.ban(invalidAt(mempool.frames(), moment))
  const picked = withNominated(mempool.pick(ledger.capacity), nominated, moment)
  const sequence = last.sequence + 1
  const changes = createChanges(history.at(last.sequence))
  const base = { network, market, programs, ledger: sequence, closeTime: BigInt(closeTime) }
  const applied = applyAll(inApplyOrder(picked, last.hash), changes, base)
  history.write(sequence, changes)
  const closed = chain.append(closeTime, dearest(picked, network), applied)
  mempool.settle(picked.map(({ frame }) => frame))
  mempool.ban(invalidAt(mempool.frames(), waitingMoment(ledger, seconds())))
  return closed
}

/** Adds the frames that are valid at this moment, one of each account. */
function withNominated(picked: readonly Picked[], nominated: readonly Frame[], moment: Moment): Picked[] {
  const invalid = invalidAt(nominated, moment)
  const all = [...picked]
  for (const frame of nominated) {
    const isTaken = all.some((other) => other.frame.transaction.source === frame.transaction.source)
    if (!invalid.includes(frame) && !isTaken) all.push({ frame, baseFee: moment.network.baseFee })
  }
  return all
}

/**
 * Returns the transactions that cannot be applied, by themselves or because their payer cannot pay for all of them (TxSetUtils.cpp
 * `getInvalidTxList`).
 */
function invalidAt(frames: readonly Frame[], moment: Moment): Frame[] {
  const { view, network } = moment
  const valid = frames.filter((frame) => isSuccess(checkValid(frame, moment)))
  const due = new Map<string, bigint>()
  for (const { feeSource, fee } of valid) due.set(feeSource, (due.get(feeSource) ?? 0n) + fee)
  const canPay = ({ feeSource }: Frame) =>
    availableBalance(knownAccount(view, feeSource), network.baseReserve) >= (due.get(feeSource) ?? 0n)
  return frames.filter((frame) => !valid.includes(frame) || !canPay(frame))
}

/** All fees first, then one transaction after the other, then refunds (LedgerManagerImpl.cpp `processFeesSeqNums`, `applyTransactions`). */
function applyAll(
  picked: readonly Picked[],
  changes: Changes,
  base: Omit<Closing, 'baseFee'>,
): AppliedTransaction[] {
  const fees = picked.map(({ frame, baseFee }) => takeFee(frame, changes, baseFee))
  const applications = picked.map(({ frame, baseFee }, index) => ({
    frame,
    application: applyFrame(frame, fees[index] ?? 0n, changes, { ...base, baseFee }),
  }))
  return applications.map(({ frame, application }, index) => {
    const { frameResult, effects } = refund(frame, application, changes)
    const result = toResultXdr(frame, frameResult)
    return { frame, frameResult, effects, ledger: base.ledger, order: index + 1, result }
  })
}

/** An order that no one can choose: by hash, mixed with that of the last ledger (TxSetFrame.cpp `ApplyTxSorter`). */
function inApplyOrder(picked: readonly Picked[], salt: string): Picked[] {
  const mixed = ({ frame }: Picked) => BigInt(`0x${frame.fullHash}`) ^ BigInt(`0x${salt}`)
  return [...picked].sort((a, b) => (mixed(a) < mixed(b) ? -1 : 1))
}

function dearest(picked: readonly Picked[], { baseFee }: Network): bigint {
  return picked.reduce((most, pick) => larger(most, pick.baseFee), baseFee)
}
