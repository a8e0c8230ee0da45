import { lifetimeOf } from '../chain/age.ts'
import type { Chain } from '../chain/chain.ts'
import { loadAddresses } from '../chain/lookup-tables.ts'
import type { Commitment, Node } from '../node.ts'
import { base58 } from '../runtime/bytes.ts'
import type { TransactionError } from '../runtime/errors.ts'
import { MAX_SIMULATION_AGE } from '../runtime/limits.ts'
import { lockProblem } from '../runtime/sanitize.ts'
import type { WireTransaction } from '../runtime/transaction.ts'
import type { Execution } from '../runtime/vm.ts'

/** Runs the transaction on the accounts as they were with the block at this place, and keeps nothing. */
function simulateAt({ vm, blocks, accounts }: Chain, transaction: WireTransaction, index: number): Execution {
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

/** The effect of a run that is not kept. */
export interface Simulation {
  readonly err: TransactionError | null
  /** Missing when nothing ran. */
  readonly execution: Execution | undefined
}

/** Runs the transaction where the node stands; its age is not asked for when its blockhash is to be replaced. */
export function simulate(
  node: Node,
  transaction: WireTransaction,
  commitment: Commitment,
  checksAge: boolean,
): Simulation {
  const refusal = checksAge ? refusalOf(node, transaction, commitment) : undefined
  if (refusal !== undefined) return { err: refusal, execution: undefined }
  const locks = locksOf(node, transaction, commitment)
  if (locks !== undefined) return { err: locks, execution: undefined }
  const execution = simulateAt(node.chain, transaction, node.index(commitment))
  return { err: execution.err, execution }
}

function locksOf(
  node: Node,
  { message }: WireTransaction,
  commitment: Commitment,
): TransactionError | undefined {
  const { writable, readonly } = loadAddresses(message, (address) => node.account(address, commitment))
  return lockProblem([...message.keys, ...writable, ...readonly], node.chain.rules.accountLocks)
}

/** Age first, then whether it is in a block already (agave runtime/src/bank/check_transactions.rs). */
function refusalOf(node: Node, { message }: WireTransaction, commitment: Commitment): string | undefined {
  if (lifetimeOf(message, node.standpoint(commitment), MAX_SIMULATION_AGE) === undefined)
    return 'BlockhashNotFound'
  const found = node.chain.blocks.indexOfMessage(message.hash)
  return found !== undefined && found <= node.index(commitment) ? 'AlreadyProcessed' : undefined
}

/** Writes the fields that both kinds of simulation share. */
export function writeSimulation({ err, execution }: Simulation): Record<string, unknown> {
  const returned = execution?.meta.returnData()
  const hasData = returned !== undefined && returned.data().length > 0
  return {
    err,
    logs: execution?.meta.logs() ?? [],
    accounts: null,
    unitsConsumed: execution?.meta.computeUnitsConsumed() ?? 0n,
    returnData: hasData
      ? {
          programId: base58(returned.programId()),
          data: [Buffer.from(returned.data()).toString('base64'), 'base64'],
        }
      : null,
    innerInstructions: null,
    replacementBlockhash: null,
  }
}
