import { computeBudgetOf } from '../runtime/fees.ts'
import type { WireTransaction } from '../runtime/transaction.ts'

/** A transaction that a node received and that is in no block. */
export interface Pending {
  readonly transaction: WireTransaction
  /**
   * The node sends it again for as long as it can be included (agave send-transaction-service: `maxRetries` absent or above 0). Otherwise a
   * leader that cannot accept it forgets it, and a fork that drops its block drops it.
   */
  readonly retried: boolean
  /** Unless it is retried: the last slot whose leader has it. It is sent once to those of the next slots (`tpu_peers`, `maxRetries` 0). */
  readonly untilSlot: bigint
  /** Millionths of a lamport for each compute unit. */
  readonly price: bigint
}

/** Slots whose leaders are sent what came once: fewer than on the public networks, where a leader has four in a row. */
const FORWARDED_SLOTS = 2n

/** The transactions that wait for a block. */
export interface Pool {
  add(transaction: WireTransaction, retried: boolean, nextSlot: bigint): void
  /** The dearest first, and of the same price the oldest. */
  inOrder(): Pending[]
  remove(signature: string): void
  clear(): void
}

/** An empty one. */
export function createPool(): Pool {
  const pending = new Map<string, Pending>()
  return {
    add(transaction, retried, nextSlot) {
      const known = pending.get(transaction.signature)
      if (known?.retried) return
      const { price } = computeBudgetOf(transaction.message)
      const untilSlot = nextSlot + FORWARDED_SLOTS - 1n
      pending.set(transaction.signature, { transaction, retried, untilSlot, price })
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
