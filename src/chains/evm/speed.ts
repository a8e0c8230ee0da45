import type { Speed } from '../speed.ts'

/** The meaning of a speed level: the price above the market, and the wait before the fee is raised. */
export interface SpeedMeaning {
  /** The market price is multiplied by this. */
  readonly priceMultiplier: number
  /** Percentile of the tips paid in recent blocks (`eth_feeHistory`). */
  readonly rewardPercentile: number
  /** Seconds without inclusion until the service raises the fee by itself. */
  readonly raiseAfterSeconds: number
}

/** Existing clients know these levels and waits; a change is a change of the contract. */
export const SPEEDS: Readonly<Record<Speed, SpeedMeaning>> = {
  safeLow: { priceMultiplier: 1, rewardPercentile: 30, raiseAfterSeconds: 600 },
  average: { priceMultiplier: 1.25, rewardPercentile: 50, raiseAfterSeconds: 300 },
  fast: { priceMultiplier: 1.5, rewardPercentile: 85, raiseAfterSeconds: 180 },
  fastest: { priceMultiplier: 2, rewardPercentile: 99, raiseAfterSeconds: 120 },
}

/** The level of a request that names neither a speed nor a price. */
export const DEFAULT_SPEED: Speed = 'fast'
