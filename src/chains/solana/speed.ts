import type { SpeedMeaning } from '../chain.ts'
import type { Speed } from '../speed.ts'

/**
 * A blockhash is valid for 150 blocks, about a minute; a transaction that no block has included by then is signed again at the price of
 * that time.
 */
const RENEWED_AFTER_SECONDS = 60

export const SPEEDS: Readonly<Record<Speed, SpeedMeaning>> = {
  safeLow: { priceMultiplier: 1, raiseAfterSeconds: RENEWED_AFTER_SECONDS },
  average: { priceMultiplier: 1.25, raiseAfterSeconds: RENEWED_AFTER_SECONDS },
  fast: { priceMultiplier: 1.5, raiseAfterSeconds: RENEWED_AFTER_SECONDS },
  fastest: { priceMultiplier: 2, raiseAfterSeconds: RENEWED_AFTER_SECONDS },
}
