import type { Transaction } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'

/** The usable nonces of one source account. */
export interface AccountCapacity {
  readonly address: string
  /** The lowest nonce that the chain can still use. A stored counter below it is raised to it. */
  readonly chainNonce: bigint
  /** The number of further transactions that may be in flight. */
  readonly slots: number
}

/** Nonces for transactions, which nobody has stored yet. */
export interface NoncePlan {
  /** The transactions that get a nonce, with it, in their order. */
  readonly transactions: readonly Transaction[]
  /** The next nonce of each source account that gives one, by address. */
  readonly next: ReadonlyMap<string, bigint>
}

/**
 * Plans nonces for transactions without one, in their order, as long as source accounts have free slots. It fills one source account after
 * the other, so that a relayer with one source account keeps the order of acceptance. Pure.
 */
export function planNonces(
  transactions: readonly Transaction[],
  sourceAccounts: readonly AccountCapacity[],
  counters: ReadonlyMap<string, bigint>,
): NoncePlan {
  const waiting = [...transactions]
  const numbered: Transaction[] = []
  const next = new Map<string, bigint>()
  for (const { address, chainNonce, slots } of sourceAccounts) {
    const withSlots = waiting.splice(0, Math.max(0, slots))
    if (withSlots.length === 0) continue
    const counter = counters.get(address)
    const first = counter === undefined || counter < chainNonce ? chainNonce : counter
    numbered.push(
      ...withSlots.map((transaction, index) => withNonce(transaction, address, first + BigInt(index))),
    )
    next.set(address, first + BigInt(withSlots.length))
  }
  return { transactions: numbered, next }
}

function withNonce(transaction: Transaction, sourceAccount: string, nonce: bigint): Transaction {
  return { ...transaction, status: nextStatus(transaction.status, 'numbered'), sourceAccount, nonce }
}
