import type { Content } from './ledger.ts'

/** A payment that nobody else makes; the mark is its amount. */
export interface AmountContent extends Content {
  /** In the smallest unit of the chain. */
  readonly amount: bigint
}

/** Payments that differ in their amounts over all histories of one chain. */
export function createAmounts(): () => AmountContent {
  let amount = 0n
  return () => {
    amount += 1n
    return { mark: amount.toString(), amount }
  }
}
