import type { Answer, Refusal } from '../../chains/answer.ts'
import type { Prepared, SetupRequired } from '../../chains/attempt.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { assertFence } from '../../database/lease.ts'
import { transact } from '../../database/locks/transact.ts'
import { lockForAdding } from '../../relayers/store.ts'
import { chargeOwn, isLimited } from '../budgets/charge.ts'
import { isNoop, unprovenAttempts } from '../model/attempts.ts'
import { WATCHED_MS } from '../model/due.ts'
import {
  isExternallySigned,
  type LeasedAccount,
  type RelayerRuntime,
  type TransactionsContext,
} from '../model/runtime.ts'
import { afterCause, noopReason } from '../model/status-reasons.ts'
import {
  ENDED_UNSIGNED,
  newTransactionId,
  type Transaction,
  type TransactionWithAttempts,
} from '../model/transaction.ts'
import { isFinal, nextStatus } from '../model/transitions.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { findLatestSetup } from '../store/due-store.ts'
import { insertTransactions, saveInOwnTransaction } from '../store/transactions-store.ts'

/**
 * Time in ms until a transaction that cannot be prepared is tried again: no node answers, or the account has
 * no money.
 */
export const WAIT_MS = 2_000

/** The refusal of a transaction whose `valid_until` passed before it was signed. */
export const OVERDUE: Refusal = {
  code: 'invalid_request',
  detail: 'valid_until passed before it was signed.',
}

/** The answer of a chain that could not prepare the content. */
export type Unprepared = Exclude<Answer<Prepared> | SetupRequired, { kind: 'ok' }>

/** A transaction whose content could not be prepared, and the answer of the chain. */
export interface FailedPreparation {
  readonly transaction: Transaction
  readonly answer: Unprepared
}

/**
 * Missing money, silent nodes, setup transactions and unconfirmed refusals only delay a transaction. A no-op
 * always waits, because no other content can replace it.
 */
export function isWait({ transaction, answer }: FailedPreparation): boolean {
  if (answer.kind !== 'refused' || isNoop(transaction.purpose)) return true
  return answer.refusal.unanswered === true || isAboutFunds(answer.refusal)
}

function isAboutFunds({ code }: Refusal): boolean {
  return code === 'insufficient_balance' || code === 'account_not_found'
}

/** Stores the results of transactions that cannot be prepared: they wait, end, or become a no-op. */
export async function storeFailures(
  context: TransactionsContext,
  { runtime }: LeasedAccount,
  failed: readonly FailedPreparation[],
): Promise<void> {
  const attempts = await findAttempts(
    context.db,
    failed.map(({ transaction }) => transaction),
  )
  const now = context.clock.now()
  const settled = failed.map((one) => {
    const { transaction, answer } = one
    if (answer.kind !== 'refused' || isWait(one)) return waiting(transaction, answer, now)
    const item = { transaction, attempts: attempts.get(transaction.id) ?? [] }
    return ended(runtime, item, { refusal: answer.refusal, now })
  })
  await saveInOwnTransaction(context, settled)
}

function waiting(transaction: Transaction, answer: Unprepared, now: number): Transaction {
  return {
    ...transaction,
    statusReason: afterCause(transaction, reasonToWait(answer)),
    nextRunAt: new Date(now + WAIT_MS),
  }
}

function reasonToWait(answer: Unprepared): string {
  if (answer.kind === 'setup') return `Waiting: ${answer.detail}`
  if (answer.kind === 'unknown') return `Waiting: ${answer.detail}.`
  const { detail, unanswered } = answer.refusal
  if (unanswered) return `Waiting for another endpoint, or for later blocks, to confirm it: ${detail}`
  return isAboutFunds(answer.refusal) ? `Waiting for funds: ${detail}` : `Waiting: ${detail}`
}

/**
 * Without a nonce, the transaction ends. With a nonce of this service, a no-op uses the nonce first. If a
 * third party signed it and earlier bytes may have used the nonce, the chain decides.
 */
function ended(
  runtime: RelayerRuntime,
  { transaction, attempts }: TransactionWithAttempts,
  { refusal, now }: { readonly refusal: Refusal; readonly now: number },
): Transaction {
  const overdue = refusal === OVERDUE
  const statusReason = refusal.detail
  const purpose = overdue ? 'expire' : 'abandon'
  if (transaction.nonce !== undefined && !isExternallySigned(runtime, transaction))
    return {
      ...transaction,
      purpose,
      statusReason: overdue ? noopReason('expired') : noopReason('unprepared', refusal.detail),
      nextRunAt: new Date(now),
    }
  const signed = unprovenAttempts(attempts).at(-1)
  if (signed === undefined) {
    const status = nextStatus(transaction.status, overdue ? 'expired' : 'failed')
    return { ...transaction, ...ENDED_UNSIGNED, status, statusReason }
  }
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'signed'),
    purpose,
    statusReason,
    currentAttempt: signed.number,
    nextRunAt: new Date(now + WATCHED_MS),
  }
}

/** Time in ms after a failed setup transaction: each one costs a fee and would probably fail again. */
const AFTER_FAILURE_MS = 60_000

/**
 * Stores a setup transaction of the service that other transactions depend on. It appears in the list with
 * its reason. A relayer has one at a time: while one is open, this does nothing.
 */
export async function runSetupTransaction(
  { db, clock, log, observer }: TransactionsContext,
  { relayer, runtime, lease }: LeasedAccount,
  { request, detail }: { request: ChainRequest; detail: string },
): Promise<void> {
  const now = clock.now()
  const stored = await transact(db, async (tx): Promise<Transaction[]> => {
    await assertFence(tx, lease)
    // The transactions that needed it may be final by now, and the relayer deleted.
    const present = await lockForAdding(tx, relayer.id)
    if (present === undefined) return []
    const latest = await findLatestSetup(tx, relayer.id)
    if (latest !== undefined && !mayFollow(latest, now)) return []
    const setup: Transaction = {
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
      isBudgeted: isLimited({ relayer: present }) || undefined,
      nextRunAt: new Date(now),
    }
    await insertTransactions(tx, [setup])
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
