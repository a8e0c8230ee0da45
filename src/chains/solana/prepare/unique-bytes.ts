import { randomInt } from 'node:crypto'
import { MAX_LOADED_BYTES } from './compute-budget.ts'

/** The number of different limits. All of them are far above the bytes that a transaction loads. */
const VARIANTS = 2 ** 22

/**
 * Creates a source of numbers that make transactions different. Two requests with the same content are two transactions, but Solana treats
 * the same bytes as one. The limit of bytes that a transaction may load distinguishes them: it is just below the maximum, different each
 * time, and free of charge. One process uses all numbers before one repeats, and starts at a random one, because another process may have
 * just ended.
 */
export function createLoadedBytes(): () => number {
  let next = randomInt(VARIANTS)
  return () => {
    next = (next + 1) % VARIANTS
    return MAX_LOADED_BYTES - next
  }
}
