import { type Anvil, startAnvil } from '../../../test/support/anvil.ts'

/** Time between two blocks, in s. anvil makes receipts in a time that grows with the square of a block's size, so longer times cost more. */
const BLOCK_TIME = 0.5

/**
 * Gas in a block: room for 2,857 transfers, more than come in its time. With less, the chain and not the service would limit what a
 * benchmark can show, and base fees would rise all the time.
 */
const BLOCK_GAS_LIMIT = 60_000_000

/** Starts the chain of the benchmarks. */
export function startChain(): Promise<Anvil> {
  return startAnvil({ args: ['--block-time', `${BLOCK_TIME}`, '--gas-limit', `${BLOCK_GAS_LIMIT}`] })
}
