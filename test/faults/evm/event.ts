import type { CommonEvent } from '../common-event.ts'
import type { Random } from '../random.ts'
import { KILL_WEIGHT } from '../trouble.ts'
import { drawWeather } from '../weather.ts'

/** How a request says what it wants to pay. `low` is what no node takes in place of anything. */
export type Price = 'none' | 'safeLow' | 'fast' | 'fastest' | 'explicit' | 'low' | 'legacy'

/** One thing that happens. Targets are counted back from the newest transaction, so that they exist in every replay. */
export type Event = OwnEvent | CommonEvent

/** What only this chain has. */
export type OwnEvent =
  | {
      readonly is: 'send'
      readonly account: number
      readonly price: Price
      readonly gas: boolean
      readonly validForMs?: number
      readonly reverts: boolean
    }
  | { readonly is: 'replace'; readonly target: number; readonly price: Price; readonly gas: boolean }
  | { readonly is: 'mine'; readonly blocks: number }
  | { readonly is: 'reorg'; readonly depth: number }
  | { readonly is: 'drop_one'; readonly target: number }
  | { readonly is: 'drop_all' }
  | { readonly is: 'external'; readonly account: number }
  | { readonly is: 'drain'; readonly account: number }
  | { readonly is: 'fund'; readonly account: number }

interface DrawOptions {
  readonly accounts: number
  /** Deepest reorganisation. */
  readonly maxDepth: number
  /** Whether the process dies now and then. */
  readonly kills: boolean
}

const WEIGHTS: Readonly<Record<Event['is'], number>> = {
  send: 26,
  replace: 11,
  cancel: 7,
  mine: 18,
  reorg: 5,
  drop_one: 3,
  drop_all: 2,
  external: 3,
  weather: 12,
  time: 6,
  drain: 2,
  fund: 3,
  restart: 2,
  kill: 0,
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
export function drawEvent(random: Random, { accounts, maxDepth, kills }: DrawOptions): Event {
  const is = random.weighted({ ...WEIGHTS, kill: kills ? KILL_WEIGHT : 0 })
  const account = random.int(0, accounts - 1)
  const target = random.int(0, 4)
  switch (is) {
    case 'send':
      return { is, account, ...drawContent(random), ...drawValidity(random), reverts: random.chance(0.05) }
    case 'replace':
      return { is, target, ...drawContent(random) }
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
    case 'weather':
      return { is, weather: drawWeather(random) }
    case 'time':
      return { is, ms: (random.chance(0.8) ? random.int(1, 45) : 200) * 1_000 }
    case 'drop_all':
    case 'restart':
    case 'kill':
      return { is }
  }
}

function drawContent(random: Random): { price: Price; gas: boolean } {
  return { price: random.weighted(PRICES), gas: random.chance(0.3) }
}

function drawValidity(random: Random): { validForMs?: number } {
  return random.chance(0.12) ? { validForMs: random.int(200, 20_000) } : {}
}
