import { type Anvil, startAnvil } from '../../../test/support/anvil.ts'

/** Time between two blocks, in s. anvil makes receipts in a time that grows with the square of a block's size, so longer times cost more. */
const BLOCK_TIME = 0.5

/**
 * Gas in a block: room for 14,285 transfers, more than twice what comes in its time. With less, blocks are more than half full, so that the
 * base fee rises (EIP-1559) until nodes refuse transactions, and the chain limits what a benchmark can show.
 */
const BLOCK_GAS_LIMIT = 300_000_000

/** Starts the chain of the benchmarks. */
export function startChain(): Promise<Anvil> {
  return startAnvil({ args: ['--block-time', `${BLOCK_TIME}`, '--gas-limit', `${BLOCK_GAS_LIMIT}`] })
}
