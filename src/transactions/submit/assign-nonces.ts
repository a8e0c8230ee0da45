import { assertFence, type Lease } from '../../database/lease.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { lockAccount, lockUnchanged, setNextNonce } from '../store/nonce-store.ts'
import { saveTransactions } from '../store/transactions-store.ts'

/** The free slots of one source account. */
export interface AccountCapacity {
  readonly address: string
  /** The lowest nonce that the chain can still use. A stored counter below it is raised to it. */
  readonly chainNonce: bigint
  /** The number of further transactions that may be in flight. */
  readonly slots: number
}

interface AssignRequest {
  readonly relayerId: string
  readonly transactions: readonly Transaction[]
  readonly sourceAccounts: readonly AccountCapacity[]
  readonly lease: Lease
}

/**
 * Assigns nonces to the transactions without one, in their order, as long as source accounts have free slots. The counters change in the
 * same database transaction as the rows, so no nonce is lost and none is assigned twice (I2). A transaction that changed meanwhile gets
 * none.
 */
export async function assignNonces(
  { db }: TransactionsContext,
  { relayerId, transactions, sourceAccounts, lease }: AssignRequest,
): Promise<Transaction[]> {
  const unnumbered = transactions.filter((transaction) => transaction.nonce === undefined)
  const numbered = transactions.filter((transaction) => transaction.nonce !== undefined)
  if (unnumbered.length === 0) return numbered
  return db.transaction().execute(async (tx) => {
    await assertFence(tx, lease)
    const counters = await lockAccount(tx, relayerId)
    const unchanged = await lockUnchanged(tx, unnumbered)
    const assigned = assign(
      unnumbered.filter(({ id }) => unchanged.has(id)),
      sourceAccounts,
      counters,
    )
    const saved = new Map(
      (await saveTransactions(tx, assigned.transactions)).map((transaction) => [transaction.id, transaction]),
    )
    for (const [address, nonce] of assigned.next) await setNextNonce(tx, { relayerId, address, nonce })
    return [...numbered, ...assigned.transactions.flatMap(({ id }) => saved.get(id) ?? [])]
  })
}

/** Fills one source account after the other, so that a relayer with one source account keeps the order of acceptance. Pure. */
function assign(
  transactions: readonly Transaction[],
  sourceAccounts: readonly AccountCapacity[],
  counters: ReadonlyMap<string, bigint>,
): { transactions: Transaction[]; next: Map<string, bigint> } {
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
