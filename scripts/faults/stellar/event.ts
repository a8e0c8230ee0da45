import type { NodeFault } from '../../../simulators/stellar/rpc/node.ts'
import type { Random } from '../../../test/support/random.ts'
import { type CommonEvent, drawClock, type Troubles, troubleWeights } from '../common-event.ts'
import { drawConditions } from '../conditions.ts'

/** How much a request allows for its fee. `tight` pays for nothing but a quiet network, `low` not even for that. */
export type Budget = 'none' | 'high' | 'middle' | 'tight' | 'low'

/** One thing that happens. Targets are counted back from the newest transaction, so that they exist in every replay. */
export type Event = OwnEvent | CommonEvent

/** What only this chain has. */
export type OwnEvent =
  | {
      readonly is: 'send'
      readonly account: number
      readonly budget: Budget
      readonly validForMs?: number
    }
  /** A customer's signed transaction in a fee bump. */
  | { readonly is: 'bump'; readonly account: number; readonly customer: number; readonly seconds: number }
  | { readonly is: 'replace'; readonly target: number; readonly budget: Budget }
  /** A customer's signed transaction in place of one. */
  | {
      readonly is: 'replace_signed'
      readonly target: number
      readonly customer: number
      readonly seconds: number
    }
  /** `after`: so much time passes before the first · `ahead`: so far the network's clock runs ahead of ours; seconds. */
  | { readonly is: 'close'; readonly ledgers: number; readonly after: number; readonly ahead: number }
  /**
   * A ledger closes in the last second in which a transaction that once waited is valid, and does not hold it; the next one, in the same
   * second, holds it (CAP-88).
   */
  | { readonly is: 'last_second'; readonly target: number }
  /** How many operations fit into a ledger from now on. */
  | { readonly is: 'capacity'; readonly operations: number }
  | { readonly is: 'drop_queue' }
  /** A call of a contract that did not exist before. */
  | { readonly is: 'call'; readonly account: number }
  /**
   * Someone takes a transaction that waits in a queue, or with `old` one that ever did, counted back from the newest, and sends its inner
   * one: `plain` as it is, else in a fee bump that pays so much for each operation; stroops.
   */
  | {
      readonly is: 'wrap'
      readonly target: number
      readonly old: boolean
      readonly rate: number
      readonly plain: boolean
    }
  /** What all RPC servers complain of from now on. */
  | { readonly is: 'nodeFault'; readonly nodeFault: NodeFault }
  /** A ledger closes while a server looks for the next transaction. */
  | { readonly is: 'tear' }
  /** A third party has the same key and raises the sequence number by so much. */
  | { readonly is: 'jump'; readonly account: number; readonly by: number }
  /** A third party has the same key; `rich` bids more than anyone. */
  | { readonly is: 'external'; readonly account: number; readonly rich: boolean }
  | { readonly is: 'drain'; readonly account: number }
  | { readonly is: 'fund'; readonly account: number }

const WEIGHTS: Readonly<Record<Event['is'], number>> = {
  send: 26,
  bump: 5,
  replace: 11,
  replace_signed: 5,
  cancel: 7,
  close: 22,
  last_second: 6,
  capacity: 5,
  drop_queue: 3,
  call: 6,
  wrap: 14,
  nodeFault: 5,
  tear: 2,
  jump: 2,
  external: 3,
  conditions: 12,
  time: 5,
  clock: 3,
  drain: 2,
  fund: 3,
  restart: 2,
  kill: 0,
  fail_over: 0,
}

const BUDGETS: Readonly<Record<Budget, number>> = { none: 5, high: 4, middle: 2, tight: 2, low: 1 }

/** How many operations a ledger takes: mostly all, sometimes hardly any, or none at all. */
const CAPACITIES = [1_000, 1_000, 2, 1, 0] as const

/** What a stranger bids for each operation: the least, what replaces most of what waits, and more than anyone else; stroops. */
const WRAP_RATES = [100, 5_000, 200_000, 5_000_000, 5_000_000] as const

/** Mostly none: each lasts until the next one is drawn. */
const TROUBLES: Readonly<Record<NodeFault, number>> = {
  none: 8,
  core_gone: 2,
  core_exception: 1,
  filtered: 1,
  too_slow: 1,
  panicking: 1,
  preflight_full: 2,
  preflight_closed: 1,
}

/** Long enough for every version that waits to lapse, in seconds. */
const EXPIRY_SECONDS = 130

interface DrawOptions {
  readonly accounts: number
  readonly customers: number
  readonly troubles: Troubles
}

/** What happens next: the same for the same numbers. */
export function drawEvent(random: Random, { accounts, customers, troubles }: DrawOptions): Event {
  const is = random.weighted({ ...WEIGHTS, ...troubleWeights(troubles) })
  const account = random.int(0, accounts - 1)
  const target = random.int(0, 4)
  switch (is) {
    case 'send':
      return { is, account, budget: random.weighted(BUDGETS), ...drawValidity(random) }
    case 'bump':
      return { is, account, customer: random.int(0, customers - 1), seconds: random.int(15, 200) }
    case 'replace':
      return { is, target, budget: random.weighted(BUDGETS) }
    case 'replace_signed':
      return { is, target, customer: random.int(0, customers - 1), seconds: random.int(15, 600) }
    case 'cancel':
    case 'last_second':
      return { is, target }
    case 'close':
      return { is, ledgers: random.chance(0.7) ? 1 : random.int(2, 4), ...drawDelay(random) }
    case 'capacity':
      return { is, operations: random.pick(CAPACITIES) }
    case 'external':
      return { is, account, rich: random.chance(0.5) }
    case 'drain':
    case 'fund':
      return { is, account }
    case 'conditions':
      return { is, conditions: drawConditions(random) }
    case 'clock':
      return drawClock(random)
    case 'time':
      return { is, ms: random.int(1, 45) * 1_000 }
    case 'call':
      return { is, account }
    case 'wrap':
      return {
        is,
        target,
        old: random.chance(0.3),
        rate: random.pick(WRAP_RATES),
        plain: random.chance(0.15),
      }
    case 'nodeFault':
      return { is, nodeFault: random.weighted(TROUBLES) }
    case 'jump':
      return { is, account, by: random.int(1, 4) }
    case 'drop_queue':
    case 'tear':
    case 'restart':
    case 'kill':
    case 'fail_over':
      return { is }
  }
}

function drawValidity(random: Random): { validForMs?: number } {
  return random.chance(0.2) ? { validForMs: random.int(1, 60) * 1_000 } : {}
}

function drawDelay(random: Random): { after: number; ahead: number } {
  const kind = random.next()
  if (kind < 0.1) return { after: EXPIRY_SECONDS, ahead: 0 }
  if (kind < 0.2) return { after: 0, ahead: random.int(5, EXPIRY_SECONDS) }
  return { after: random.chance(0.5) ? 0 : random.int(1, 6), ahead: 0 }
}
