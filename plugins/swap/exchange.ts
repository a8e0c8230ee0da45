import type { Price } from '../shared/prices.ts'
import type { SentTransaction } from '../shared/transactions.ts'
import type { SwapSource } from './config.ts'

/** A sale of tokens: what is checked is what is signed. */
export interface Sale {
  readonly amount: bigint
  /** The least of the coin that arrives, in its smallest unit. */
  readonly least: bigint
  /** No block includes it after this time, in milliseconds since 1970. */
  readonly deadline: number
}

/** What a sale does on the newest state. */
export interface Rehearsal {
  /** What leaves and what arrives. */
  readonly sold: bigint
  readonly bought: bigint
  /** The most that all transactions of the sale cost, in the smallest unit of the coin. */
  readonly cost: bigint
  /** The fields of the sale's request that bound its cost. */
  readonly bounds: object
}

/** A transaction beside the sale. */
export interface Step {
  /** Names it within the plan. */
  readonly name: 'reset' | 'approve' | 'unwrap' | 'revoke'
  /** What it does, for its description. */
  readonly does: string
  readonly body: object
  readonly ends: boolean
}

/** What a transaction moved, as its block tells. */
export interface Moved {
  readonly sold: bigint
  readonly bought: bigint
}

/** A transaction as the service shows it; the fields that are read here. */
export interface SwapRecord extends SentTransaction {
  readonly relayer_id: string
  readonly from?: string
  readonly description?: string
  readonly awaits_approval?: boolean
  readonly no_op?: boolean
  readonly transfers?: readonly Transfer[]
}

/** An amount that a transaction moves; `expected` if no block tells it. */
export interface Transfer {
  readonly from?: string
  readonly to?: string
  readonly asset: string
  readonly amount: string
  readonly expected?: boolean
}

/**
 * Returns what a transaction moved; undefined while no node tells it: then the record has the transfers that
 * were meant.
 */
export function movedBy(record: SwapRecord, exchange: Pick<Exchange, 'moved'>): Moved | undefined {
  const isMeant = record.transfers?.some(({ expected }) => expected === true) === true
  return isMeant ? undefined : exchange.moved(record)
}

/** A market of one chain, for one swap and its relayer. Questions throw `Unavailable` if nothing answers. */
export interface Exchange {
  /** The router among those of all chains. A stop counts for it. */
  readonly router: string
  /** Digits after the point of the coin. */
  readonly coinDecimals: number
  /** What the relayer can spend. */
  holdings(): Promise<{ readonly coin: bigint; readonly token: bigint }>
  ask(source: SwapSource, now: number): Promise<Price>
  /**
   * Executes the sale with what must come before it on the newest state. @throws Refusal if it fails there
   */
  rehearse(sale: Sale): Promise<Rehearsal>
  /** Returns the transaction that must come before a sale of this amount; undefined if none must. */
  before(amount: bigint): Promise<Step | undefined>
  bodyOf(sale: Sale): object
  moved(record: SwapRecord): Moved
  /** Returns the transaction that follows when this has arrived; undefined if none does. */
  after(bought: bigint): Step | undefined
  /** Returns the transaction that takes back what no sale uses; undefined if there is nothing. */
  cleanup(): Promise<Step | undefined>
}

/** Why nothing is sold now. */
export class Refusal extends Error {
  /** For programs. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}
