import type { ChainRequest } from '../../chains/request.ts'
import { assertFence } from '../../database/lease.ts'
import { lockRelayer } from '../../relayers/store.ts'
import { asOwn, chargeOwn } from '../budgets/charge.ts'
import type { LeasedAccount, TransactionsContext } from '../model/runtime.ts'
import { newTransactionId, type Transaction } from '../model/transaction.ts'
import { isFinal } from '../model/transitions.ts'
import { lockAccount } from '../store/nonce-store.ts'
import { insertTransactions } from '../store/transactions-store.ts'
import { findLatestSetup } from '../store/work-store.ts'

/** Time in ms after a failed setup transaction: each one costs a fee and would probably fail again. */
const AFTER_FAILURE_MS = 60_000

/**
 * Stores a setup transaction of the service that other transactions depend on. It appears in the list with its reason. A relayer has one at
 * a time: while one is open, this does nothing.
 */
export async function runSetupTransaction(
  { db, reservations, clock, log, observer }: TransactionsContext,
  { relayer, runtime, lease }: LeasedAccount,
  { request, detail }: { request: ChainRequest; detail: string },
): Promise<void> {
  const now = clock.now()
  const stored = await db.transaction().execute(async (tx): Promise<Transaction[]> => {
    await assertFence(tx, lease)
    // The transactions that needed it may be final by now, and the relayer deleted.
    const present = await lockRelayer(tx, relayer.id, 'share')
    if (present === undefined) return []
    await lockAccount(tx, relayer.id)
    const latest = await findLatestSetup(tx, relayer.id)
    if (latest !== undefined && !mayFollow(latest, now)) return []
    const setup = asOwn(present, {
      id: newTransactionId(),
      relayerId: relayer.id,
      network: relayer.network,
      from: relayer.address,
      status: 'pending',
      statusReason: detail,
      createdAt: new Date(now),
      request,
      purpose: 'setup',
      version: 1,
      cost: runtime.chain.amountOut(request),
      nextRunAt: new Date(now),
    })
    await insertTransactions({ tx, reservations }, [setup])
    await chargeOwn(tx, present, { transactions: [setup], now: new Date(now) })
    return [setup]
  })
  if (stored.length > 0) observer?.created(stored)
  for (const { id } of stored) {
    log.info({ relayer: relayer.id, transaction: id, detail }, 'setup transaction queued')
  }
}

function mayFollow(latest: Transaction, now: number): boolean {
  if (!isFinal(latest.status)) return false
  return latest.status === 'confirmed' || now >= latest.createdAt.getTime() + AFTER_FAILURE_MS
}
