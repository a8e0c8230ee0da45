import type { LedgerOptions, SnapshotMaker } from '../../../simulators/solana/ledger.ts'
import type { Random } from '../../../test/support/random.ts'
import { type CommonEvent, drawClock, type Troubles, troubleWeights } from '../common-event.ts'
import { drawConditions } from '../conditions.ts'

/** How a request asks for priority. */
export type Speed = 'none' | 'safeLow' | 'fast' | 'fastest'

/** One thing that happens. Targets are counted back from the newest transaction, so that they exist in every replay. */
export type Event = OwnEvent | CommonEvent

/**
 * What can happen to a node's ledger. `jump`: it restarts on a newer snapshot of this maker and lacks the blocks before it · `prune`: it keeps so many
 * blocks · `history`: it is started with, or without, transaction history · `storage`: its long-term storage changes · `fresh`: it has
 * fewer than two rooted blocks, or does not any more · `banks`: every second answer is this many blocks older.
 */
export type LedgerChange =
  | { readonly kind: 'jump'; readonly blocks: number; readonly maker: SnapshotMaker }
  | { readonly kind: 'prune'; readonly blocks: number }
  | { readonly kind: 'history'; readonly kept: boolean }
  | { readonly kind: 'storage'; readonly storage: NonNullable<LedgerOptions['longTermStorage']> }
  | { readonly kind: 'fresh'; readonly fresh: boolean }
  | { readonly kind: 'banks'; readonly older: number }

/** What only this chain has. */
export type OwnEvent =
  | {
      readonly is: 'send'
      readonly account: number
      readonly speed: Speed
      /** With a durable nonce, which has no end of its own, in place of a blockhash. */
      readonly durable: boolean
      readonly validForMs?: number
    }
  /** What a customer has signed for the relayer to pay, with a blockhash that is this many blocks old. */
  | { readonly is: 'cosign'; readonly account: number; readonly customer: number; readonly age: number }
  | { readonly is: 'replace'; readonly target: number; readonly speed: Speed }
  | { readonly is: 'blocks'; readonly blocks: number }
  /** This many blocks without a transaction in them. */
  | { readonly is: 'empty'; readonly blocks: number }
  | { readonly is: 'skip'; readonly slots: number }
  /** How many transactions fit into a block from now on. */
  | { readonly is: 'capacity'; readonly transactions: number }
  /** Micro-lamports for a compute unit from now on: what blocks ask for, and what nodes tell of it. */
  | { readonly is: 'price'; readonly required: number; readonly told: number }
  /** The network gives up its newest blocks, as far as they are not final. */
  | { readonly is: 'fork'; readonly depth: number }
  | { readonly is: 'drop_pending' }
  /** Something happens to the ledger of one of the nodes. */
  | { readonly is: 'ledger'; readonly node: number; readonly change: LedgerChange }
  /**
   * A node is gone while this many blocks become final with what waits in them, and comes back on a snapshot of the newest one, without the
   * blocks before it. Then blockhashes lapse.
   */
  | {
      readonly is: 'relaunch'
      readonly node: number
      readonly blocks: number
      readonly maker: SnapshotMaker
    }
  | { readonly is: 'drain'; readonly account: number }
  | { readonly is: 'fund'; readonly account: number }

const WEIGHTS: Readonly<Record<Event['is'], number>> = {
  send: 26,
  cosign: 5,
  replace: 11,
  cancel: 7,
  blocks: 20,
  empty: 6,
  skip: 2,
  capacity: 5,
  price: 3,
  fork: 6,
  drop_pending: 4,
  ledger: 10,
  relaunch: 3,
  conditions: 12,
  time: 5,
  clock: 3,
  drain: 2,
  fund: 3,
  restart: 2,
  kill: 0,
  fail_over: 0,
}

const SPEEDS: Readonly<Record<Speed, number>> = { none: 4, safeLow: 2, fast: 2, fastest: 2 }

/** How many transactions a block takes: mostly all, sometimes hardly any, or none at all. */
const CAPACITIES = [1_000, 1_000, 2, 1, 0] as const

/** Prices of a compute unit, in micro-lamports. */
const PRICES = [0, 0, 1_000, 50_000] as const

/** Oldest blockhash of a customer, in blocks: some are too old from the first moment. */
const MAX_AGE = 155

/** A blockhash is good for 150 blocks; with those that have to be final it has provably lapsed after so many. */
export const EXPIRY_BLOCKS = 170

interface DrawOptions {
  readonly accounts: number
  readonly customers: number
  readonly nodes: number
  /** Deepest fork, in blocks. */
  readonly maxDepth: number
  readonly troubles: Troubles
}

/** What happens next: the same for the same numbers. */
export function drawEvent(random: Random, options: DrawOptions): Event {
  const { accounts, customers, maxDepth, troubles, nodes } = options
  const is = random.weighted({ ...WEIGHTS, ...troubleWeights(troubles) })
  const account = random.int(0, accounts - 1)
  const target = random.int(0, 4)
  switch (is) {
    case 'send':
      return {
        is,
        account,
        speed: random.weighted(SPEEDS),
        durable: random.chance(0.2),
        ...drawValidity(random),
      }
    case 'cosign':
      return { is, account, customer: random.int(0, customers - 1), age: random.int(0, MAX_AGE) }
    case 'replace':
      return { is, target, speed: random.weighted(SPEEDS) }
    case 'cancel':
      return { is, target }
    case 'blocks':
    case 'empty':
    case 'skip':
    case 'capacity':
    case 'price':
    case 'fork':
      return drawNetwork(random, is, maxDepth)
    case 'drain':
    case 'fund':
      return { is, account }
    case 'conditions':
      return { is, conditions: drawConditions(random) }
    case 'clock':
      return drawClock(random)
    case 'time':
      return { is, ms: random.int(1, 45) * 1_000 }
    case 'ledger':
      return { is, node: random.int(0, nodes - 1), change: drawLedgerChange(random) }
    case 'relaunch':
      return {
        is,
        node: random.int(0, nodes - 1),
        blocks: random.int(1, MAX_AWAY),
        maker: random.weighted(SNAPSHOT_MAKERS),
      }
    case 'drop_pending':
    case 'restart':
    case 'kill':
    case 'fail_over':
      return { is }
  }
}

function drawNetwork(
  random: Random,
  is: 'blocks' | 'empty' | 'skip' | 'capacity' | 'price' | 'fork',
  maxDepth: number,
): Event {
  switch (is) {
    case 'blocks':
      return { is, blocks: random.chance(0.7) ? 1 : random.int(2, 6) }
    case 'empty':
      return { is, blocks: random.chance(0.6) ? EXPIRY_BLOCKS : random.int(20, EXPIRY_BLOCKS) }
    case 'skip':
      return { is, slots: random.int(1, 8) }
    case 'capacity':
      return { is, transactions: random.pick(CAPACITIES) }
    case 'price':
      return { is, required: random.pick(PRICES), told: random.pick(PRICES) }
    case 'fork':
      return { is, depth: random.int(1, maxDepth) }
  }
}

const LEDGER_CHANGES = { jump: 6, prune: 2, history: 3, storage: 3, fresh: 1, banks: 2 } as const

/** Blocks that a pruned node keeps: fewer than a life, some more, and all. */
const KEPT_BLOCKS = [60, 250, 400, 100_000] as const

/** Longest hole, in blocks: some are longer than a blockhash lives. */
const MAX_HOLE = 220

/** The makers of the snapshots on which nodes restart, as weights. */
const SNAPSHOT_MAKERS: Readonly<Record<SnapshotMaker, number>> = { agave: 1, firedancer: 1 }

/** Longest absence of a node that restarts, in blocks beside those that are not final: shorter than a blockhash lives. */
const MAX_AWAY = 100

/** Blocks between two banks of one node. */
const MAX_OLDER = 5

function drawLedgerChange(random: Random): LedgerChange {
  const kind = random.weighted(LEDGER_CHANGES)
  switch (kind) {
    case 'jump':
      return {
        kind,
        blocks: random.int(2, MAX_HOLE),
        maker: random.weighted(SNAPSHOT_MAKERS),
      }
    case 'prune':
      return { kind, blocks: random.pick(KEPT_BLOCKS) }
    case 'history':
      return { kind, kept: random.chance(0.6) }
    case 'storage':
      return { kind, storage: random.pick(['none', 'working', 'failing', 'without_signatures'] as const) }
    case 'fresh':
      return { kind, fresh: random.chance(0.5) }
    case 'banks':
      return { kind, older: random.int(0, MAX_OLDER) }
  }
}

function drawValidity(random: Random): { validForMs?: number } {
  return random.chance(0.2) ? { validForMs: random.int(1, 60) * 1_000 } : {}
}
