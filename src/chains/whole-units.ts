import type { Unit } from './chain.ts'

/** The number of the smallest unit in one whole coin: ETH has 18 decimals, XLM 7, SOL 9. EVM networks with another coin count in wei, too. */
const PER_COIN: Readonly<Record<Unit, number>> = { wei: 1e18, stroops: 1e7, lamports: 1e9 }

/** Converts an amount to whole coins. A double keeps about 15 digits, so the result is for charts and alerts, never for accounts (I10). */
export function toWholeUnits(amount: bigint, unit: Unit): number {
  return Number(amount) / PER_COIN[unit]
}
