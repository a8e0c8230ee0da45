import type { WireTransaction } from '../runtime/transaction.ts'
import type { Execution } from '../runtime/vm.ts'
import type { Chain } from './chain.ts'

/** Runs the transaction on the accounts as they were with the block at this place, and keeps nothing. */
export function simulateAt(
  { vm, blocks, accounts }: Chain,
  transaction: WireTransaction,
  index: number,
): Execution {
  const { slot, time, blockhash } = blocks.near(index)
  const changed = accounts.changedAfter(slot)
  const restore = (at: bigint) => {
    for (const address of changed) {
      const account = accounts.at(address, at)
      if (account !== 'unchanged') vm.set(address, account)
    }
  }
  const last = blocks.last()
  restore(slot)
  vm.enter({ slot, time, parentBlockhash: blockhash })
  try {
    return vm.simulate(transaction)
  } finally {
    restore(last.slot)
    vm.enter({ slot: last.slot, time: last.time, parentBlockhash: last.parentBlockhash })
  }
}
