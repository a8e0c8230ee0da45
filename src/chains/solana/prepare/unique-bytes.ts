import { randomInt } from 'node:crypto'
import { MAX_LOADED_BYTES } from './compute-budget.ts'

/** How many different limits there are. All of them are far above what a transaction loads. */
const VARIANTS = 2 ** 22

/**
 * Two requests with the same content are two transactions; to Solana, the same bytes are one. What tells ours apart is the
 * limit of bytes that a transaction may load: just below the most that there is, another one each time, and free of charge.
 * One process goes through all of them before one comes again, and starts anywhere, because another may have just ended.
 */
export function createLoadedBytes(): () => number {
  let next = randomInt(VARIANTS)
  return () => {
    next = (next + 1) % VARIANTS
    return MAX_LOADED_BYTES - next
  }
}
