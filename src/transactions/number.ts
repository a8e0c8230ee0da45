import { assertFence, type Lease } from '../database/lease.ts'
import type { TransactionsContext } from './context.ts'
import { saveTransactions } from './store.ts'
import type { Transaction } from './transaction.ts'
import { nextStatus } from './transitions.ts'
import { lockAccount, lockUnchanged, setNextNonce } from './work-store.ts'

interface NumberRequest {
  readonly relayerId: string
  readonly transactions: readonly Transaction[]
  /** The lowest nonce that the chain can still use; a counter below it follows. */
  readonly chainNonce: bigint
  readonly lease: Lease
}

/**
 * Gives nonces to those transactions that have none, in their order. The counter moves in the same database transaction
 * as the rows, so no nonce is lost and none is given twice (I2). Transactions that changed meanwhile get none.
 */
export async function numberTransactions(
  { db }: TransactionsContext,
  { relayerId, transactions, chainNonce, lease }: NumberRequest,
): Promise<Transaction[]> {
  const unnumbered = transactions.filter((transaction) => transaction.nonce === undefined)
  const numbered = transactions.filter((transaction) => transaction.nonce !== undefined)
  if (unnumbered.length === 0) return numbered
  return db.transaction().execute(async (tx) => {
    await assertFence(tx, lease)
    const counter = await lockAccount(tx, relayerId)
    const unchanged = await lockUnchanged(tx, unnumbered)
    const first = counter === null || counter < chainNonce ? chainNonce : counter
    const given = unnumbered
      .filter((transaction) => unchanged.has(transaction.id))
      .map((transaction, index) => withNonce(transaction, first + BigInt(index)))
    const saved = new Map(
      (await saveTransactions(tx, given)).map((transaction) => [transaction.id, transaction]),
    )
    await setNextNonce(tx, relayerId, first + BigInt(given.length))
    return [...numbered, ...given.map((transaction) => saved.get(transaction.id) ?? transaction)]
  })
}

function withNonce(transaction: Transaction, nonce: bigint): Transaction {
  return { ...transaction, status: nextStatus(transaction.status, 'numbered'), nonce }
}
