import { computeBudgetOf } from '../runtime/fees.ts'
import type { WireTransaction } from '../runtime/transaction.ts'

/** A transaction that a node was given and that is in no block. */
export interface Pending {
  readonly transaction: WireTransaction
  /**
   * Whether the node sends it again for as long as it can land (agave send-transaction-service: `maxRetries` absent or above
   * 0). Else a leader that cannot take it forgets it, and a fork that drops its block drops it.
   */
  readonly retried: boolean
  /** Millionths of a lamport for each compute unit. */
  readonly price: bigint
}

/** What waits for a block. */
export interface Pool {
  add(transaction: WireTransaction, retried: boolean): void
  /** The dearest first, and of the same price the oldest. */
  inOrder(): Pending[]
  remove(signature: string): void
  clear(): void
}

/** An empty one. */
export function createPool(): Pool {
  const pending = new Map<string, Pending>()
  return {
    add(transaction, retried) {
      if (pending.has(transaction.signature)) return
      const { price } = computeBudgetOf(transaction.message)
      pending.set(transaction.signature, { transaction, retried, price })
    },
    inOrder: () => [...pending.values()].sort((one, other) => compare(other.price, one.price)),
    remove: (signature) => void pending.delete(signature),
    clear: () => pending.clear(),
  }
}

function compare(one: bigint, other: bigint): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
