import type { SpeedMeaning } from '../chain.ts'
import type { Speed } from '../speed.ts'

/** A Stellar request names no speed: the bid follows the network's fees, and what lapses is signed anew after two minutes. */
const MEANING: SpeedMeaning = { priceMultiplier: 1, raiseAfterSeconds: 120 }

export const SPEEDS: Readonly<Record<Speed, SpeedMeaning>> = {
  safeLow: MEANING,
  average: MEANING,
  fast: MEANING,
  fastest: MEANING,
}
