import { assertFence, type Lease } from '../../database/lease.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { lockAccount, lockUnchanged, setNextNonce } from '../store/nonce-store.ts'
import { saveTransactions } from '../store/transactions-store.ts'

/** Room on one line. */
export interface AccountCapacity {
  readonly address: string
  /** The lowest nonce that the chain can still use; a counter below it follows. */
  readonly chainNonce: bigint
  /** How many more may be on their way at once. */
  readonly slots: number
}

interface AssignRequest {
  readonly relayerId: string
  readonly transactions: readonly Transaction[]
  readonly sourceAccounts: readonly AccountCapacity[]
  readonly lease: Lease
}

/**
 * Gives nonces to those transactions that have none, in their order, as far as the lines have seats. The counters move in
 * the same database transaction as the rows, so no nonce is lost and none is given twice (I2). Transactions that changed
 * meanwhile get none.
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

/** One seat after the other, line by line, so that the order of acceptance is kept where there is one line. Pure. */
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
