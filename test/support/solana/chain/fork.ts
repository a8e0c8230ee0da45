import type { AppliedTransaction } from './block.ts'
import type { Chain } from './chain.ts'

/**
 * Switches the network to a fork without the newest `depth` blocks: accounts have their earlier state, blockhashes and signatures of those
 * blocks are unknown, heights are used again, slots are not. Transactions that a node sends again by itself wait again. Returns the dropped
 * transactions. Finalized blocks cannot be dropped.
 */
export function fork(chain: Chain, depth: number): AppliedTransaction[] {
  const { blocks, accounts, vm, pool, root } = chain
  if (depth > blocks.length - 1 - root) {
    throw new Error(
      `a fork of ${depth} blocks is deeper than what is not finalized: ${blocks.length - 1 - root}`,
    )
  }
  const dropped = Array.from({ length: depth }, () => blocks.pop()).reverse()
  const { slot, time, parentBlockhash } = blocks.last()
  for (const address of accounts.rewind(slot)) {
    const account = accounts.at(address, slot)
    if (account !== 'unchanged') vm.set(address, account)
  }
  vm.enter({ slot, time, parentBlockhash })
  const transactions = dropped.flatMap((block) => block.transactions)
  for (const { transaction, retried } of transactions)
    if (retried) pool.add(transaction, retried, chain.nextSlot)
  return transactions
}
