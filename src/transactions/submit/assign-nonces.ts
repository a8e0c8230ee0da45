import { assertFence, type Lease } from '../../database/lease.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { saveTransactions } from '../store/transactions-store.ts'
import { lockAccount, lockUnchanged, setNextNonce } from '../store/work-store.ts'

/** Room on one line. */
export interface OpenLine {
  readonly address: string
  /** The lowest nonce that the chain can still use; a counter below it follows. */
  readonly chainNonce: bigint
  /** How many more may be on their way at once. */
  readonly seats: number
}

interface NumberRequest {
  readonly relayerId: string
  readonly transactions: readonly Transaction[]
  readonly lines: readonly OpenLine[]
  readonly lease: Lease
}

/**
 * Gives nonces to those transactions that have none, in their order, as far as the lines have seats. The counters move in
 * the same database transaction as the rows, so no nonce is lost and none is given twice (I2). Transactions that changed
 * meanwhile get none.
 */
export async function numberTransactions(
  { db }: TransactionsContext,
  { relayerId, transactions, lines, lease }: NumberRequest,
): Promise<Transaction[]> {
  const unnumbered = transactions.filter((transaction) => transaction.nonce === undefined)
  const numbered = transactions.filter((transaction) => transaction.nonce !== undefined)
  if (unnumbered.length === 0) return numbered
  return db.transaction().execute(async (tx) => {
    await assertFence(tx, lease)
    const counters = await lockAccount(tx, relayerId)
    const unchanged = await lockUnchanged(tx, unnumbered)
    const dealt = deal(
      unnumbered.filter(({ id }) => unchanged.has(id)),
      lines,
      counters,
    )
    const saved = new Map(
      (await saveTransactions(tx, dealt.transactions)).map((transaction) => [transaction.id, transaction]),
    )
    for (const [address, nonce] of dealt.next) await setNextNonce(tx, { relayerId, address, nonce })
    return [...numbered, ...dealt.transactions.flatMap(({ id }) => saved.get(id) ?? [])]
  })
}

/** One seat after the other, line by line, so that the order of acceptance is kept where there is one line. Pure. */
function deal(
  transactions: readonly Transaction[],
  lines: readonly OpenLine[],
  counters: ReadonlyMap<string, bigint>,
): { transactions: Transaction[]; next: Map<string, bigint> } {
  const waiting = [...transactions]
  const numbered: Transaction[] = []
  const next = new Map<string, bigint>()
  for (const { address, chainNonce, seats } of lines) {
    const seated = waiting.splice(0, Math.max(0, seats))
    if (seated.length === 0) continue
    const counter = counters.get(address)
    const first = counter === undefined || counter < chainNonce ? chainNonce : counter
    numbered.push(
      ...seated.map((transaction, index) => withNonce(transaction, address, first + BigInt(index))),
    )
    next.set(address, first + BigInt(seated.length))
  }
  return { transactions: numbered, next }
}

function withNonce(transaction: Transaction, line: string, nonce: bigint): Transaction {
  return { ...transaction, status: nextStatus(transaction.status, 'numbered'), line, nonce }
}
