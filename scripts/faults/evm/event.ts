import type { Random } from '../../../test/support/random.ts'
import { type CommonEvent, drawClock, type Troubles, troubleWeights } from '../common-event.ts'
import { drawConditions } from '../conditions.ts'
import { type DeepReorg, drawDeepReorg } from './deep-reorg.ts'
import { drawFeeEvent, type FeeEvent } from './fee-event.ts'
import { LIES } from './lies.ts'

/** How a request says what it wants to pay. `low` is what no node takes in place of anything. */
export type Price = 'none' | 'safeLow' | 'fast' | 'fastest' | 'explicit' | 'low' | 'legacy'

/**
 * What an endpoint does permanently, until it has another behaviour. `prunes_…`: all of it up to some blocks ahead is gone · `indexing`: it
 * builds its index of transactions · `rests`: 429 to everything · `desynced`: blocks behind, and it refuses as a node does that stands
 * before a fork · `min_tip`: its pool takes no lower tip · `fee_cap`: geth's `--rpc.txfeecap` · `refuses_all`: it takes no bytes, in unknown
 * words · `lies`: it answers one of `LIES`, the one with the number `size`.
 */
export type EndpointBehaviour =
  | 'none'
  | 'prunes_receipts'
  | 'prunes_transactions'
  | 'prunes_state'
  | 'prunes_all'
  | 'indexing'
  | 'rests'
  | 'desynced'
  | 'min_tip'
  | 'fee_cap'
  | 'refuses_all'
  | 'lies'

/** One thing that happens. Targets are counted back from the newest transaction, so that they exist in every replay. */
export type Event = OwnEvent | CommonEvent | FeeEvent | DeepReorg

/** What only this chain has. */
export type OwnEvent =
  | {
      readonly is: 'send'
      readonly account: number
      readonly price: Price
      readonly gas: boolean
      readonly validForMs?: number
      readonly reverts: boolean
      readonly unwanted?: true
    }
  | {
      readonly is: 'replace'
      readonly target: number
      readonly price: Price
      readonly gas: boolean
      readonly unwanted?: true
    }
  | { readonly is: 'mine'; readonly blocks: number }
  | { readonly is: 'reorg'; readonly depth: number }
  | { readonly is: 'drop_one'; readonly target: number }
  | { readonly is: 'drop_all' }
  | { readonly is: 'external'; readonly account: number }
  | { readonly is: 'drain'; readonly account: number }
  | { readonly is: 'fund'; readonly account: number }
  | {
      readonly is: 'behaviour'
      /** Which endpoint. */
      readonly node: number
      readonly behaviour: EndpointBehaviour
      /** A number of blocks, and gwei, for those habits that need one. */
      readonly size: number
    }

interface DrawOptions {
  readonly accounts: number
  readonly endpoints: number
  /** Deepest reorganisation. */
  readonly maxDepth: number
  readonly troubles: Troubles
  /** Whether the histories are about fees. */
  readonly fees: boolean
  /** Whether nodes refuse some content permanently, in words that no one knows. */
  readonly refusals: boolean
  /** Whether the chain loses blocks that are final. */
  readonly reorganisations: boolean
  /** Whether the first endpoint of several lies. */
  readonly liar: boolean
}

const WEIGHTS: Readonly<Record<Exclude<Event, FeeEvent | DeepReorg>['is'], number>> = {
  send: 26,
  replace: 11,
  cancel: 7,
  mine: 18,
  reorg: 5,
  drop_one: 3,
  drop_all: 2,
  external: 3,
  conditions: 12,
  time: 6,
  clock: 3,
  drain: 2,
  fund: 3,
  behaviour: 8,
  restart: 2,
  kill: 0,
  fail_over: 0,
}

/** Histories about fees have less trouble of other kinds, so that most transactions wait for their price alone. */
const FEE_WEIGHTS: typeof WEIGHTS = {
  ...WEIGHTS,
  conditions: 1,
  clock: 1,
  drain: 1,
  behaviour: 1,
  reorg: 2,
  mine: 10,
}

/**
 * Histories about deep reorganisations have no transactions of a third party: such a one that is lost with its final block frees a nonce that was
 * proved to be used, and what had to take another nonce for it can then be included twice, whatever the service does.
 */
const REORG_WEIGHTS: typeof WEIGHTS = {
  ...WEIGHTS,
  external: 0,
  conditions: 6,
  behaviour: 3,
  cancel: 10,
  mine: 10,
}

const HABITS: Readonly<Record<EndpointBehaviour, number>> = {
  none: 3,
  prunes_receipts: 3,
  prunes_transactions: 2,
  prunes_state: 2,
  prunes_all: 2,
  indexing: 1,
  rests: 2,
  desynced: 2,
  min_tip: 3,
  fee_cap: 2,
  refuses_all: 0,
  lies: 0,
}

const PRICES: Readonly<Record<Price, number>> = {
  none: 4,
  safeLow: 1,
  fast: 3,
  fastest: 2,
  explicit: 2,
  low: 1,
  legacy: 2,
}

/** What happens next: the same for the same numbers. */
export function drawEvent(
  random: Random,
  { accounts, endpoints, maxDepth, troubles, fees, refusals, reorganisations, liar }: DrawOptions,
): Event {
  const ofFees = fees ? drawFeeEvent(random) : undefined
  if (ofFees !== undefined) return ofFees
  const ofReorganisations = reorganisations ? drawDeepReorg(random, accounts) : undefined
  if (ofReorganisations !== undefined) return ofReorganisations
  const weights = fees ? FEE_WEIGHTS : reorganisations ? REORG_WEIGHTS : WEIGHTS
  const is = random.weighted({ ...weights, ...troubleWeights(troubles) })
  const account = random.int(0, accounts - 1)
  const target = random.int(0, 4)
  switch (is) {
    case 'send':
      return {
        is,
        account,
        ...drawContent(random),
        ...drawValidity(random),
        reverts: random.chance(0.05),
        ...drawUnwanted(random, refusals),
      }
    case 'replace':
      return { is, target, ...drawContent(random), ...drawUnwanted(random, refusals) }
    case 'cancel':
    case 'drop_one':
      return { is, target }
    case 'mine':
      return { is, blocks: random.chance(0.8) ? 1 : random.int(2, 4) }
    case 'reorg':
      return { is, depth: random.int(1, maxDepth) }
    case 'external':
    case 'drain':
    case 'fund':
      return { is, account }
    case 'behaviour':
      return liar && random.chance(0.7)
        ? { is, node: 0, behaviour: 'lies', size: random.int(0, LIES.length - 1) }
        : drawHabit(random, endpoints, refusals)
    case 'conditions':
      return { is, conditions: drawConditions(random) }
    case 'clock':
      return drawClock(random)
    case 'time':
      return { is, ms: (random.chance(0.8) ? random.int(1, 45) : 200) * 1_000 }
    case 'drop_all':
    case 'restart':
    case 'kill':
    case 'fail_over':
      return { is }
  }
}

/** One endpoint alone is believed when it is wrong for long enough, so only one of several may be desynced, and only the first. */
function drawHabit(
  random: Random,
  endpoints: number,
  refusals: boolean,
): Extract<Event, { is: 'behaviour' }> {
  const behaviour = random.weighted({
    ...HABITS,
    desynced: endpoints > 1 ? HABITS.desynced : 0,
    ...(refusals && { refuses_all: 4 }),
  })
  const node = behaviour === 'desynced' ? 0 : random.int(0, endpoints - 1)
  return { is: 'behaviour', node, behaviour, size: random.int(1, 4) }
}

function drawContent(random: Random): { price: Price; gas: boolean } {
  return { price: random.weighted(PRICES), gas: random.chance(0.3) }
}

function drawUnwanted(random: Random, refusals: boolean): { unwanted?: true } {
  return refusals && random.chance(0.25) ? { unwanted: true } : {}
}

function drawValidity(random: Random): { validForMs?: number } {
  return random.chance(0.12) ? { validForMs: random.int(200, 20_000) } : {}
}
