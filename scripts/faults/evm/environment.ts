import type { Anvil } from '../../../test/support/anvil.ts'
import type { FaultyNode } from '../../../test/support/faulty-node.ts'
import type { Content } from '../ledger.ts'
import type { Account } from './accounts.ts'
import type { Builder } from './builder.ts'
import type { FeeWatch } from './fee-watch.ts'

/** What everything that happens on anvil needs. */
export interface Environment {
  readonly anvil: Anvil
  readonly nodes: readonly FaultyNode[]
  readonly accounts: readonly Account[]
  /** Present where histories are about fees. */
  readonly fees?: Fees | undefined
  /** Present where nodes refuse some content permanently, in words that no one knows: its marks. */
  readonly unwanted?: Set<string> | undefined
  /** Present where histories are about reorganisations that are deeper than finality. */
  readonly reorganisations?: Reorganisations | undefined
  readonly newContent: () => Payment
}

/** What histories about fees have besides. */
export interface Fees {
  readonly builder: Builder
  readonly watch: FeeWatch
  /** The nodes tell tips that are this many times the true ones. */
  tipFactor: number
}

/** What histories about deep reorganisations have besides. */
export interface Reorganisations {
  /** Bytes that the service has broadcast and that a pool may have, by hash. */
  readonly signed: Map<string, string>
  /** The transactions of this history that were final when the chain lost their block: what they were, by id. */
  readonly lost: Map<string, string>
  /** How many there were in all histories. */
  lostInAll: number
}

/** A transfer to someone whom no one else pays; the mark is the receiver. */
export interface Payment extends Content {
  /** In wei. */
  readonly value: number
}

/** Payments that differ in receiver and value over all histories of one chain. */
export function createPayments(): () => Payment {
  let count = 0
  return () => {
    count += 1
    return { mark: `0x${(0x1000_0000 + count).toString(16).padStart(40, '0')}`, value: count }
  }
}
