import type { Actor } from '../../access/principal.ts'
import { AppError, internalError } from '../../errors.ts'
import { inactive } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { accountIdsOf, findTransaction } from '../store/lookups-store.ts'
import { findOpenRequests } from '../store/queue-store.ts'
import type { Replacer } from './replace.ts'

/** A transaction that could not be canceled, and the reason. */
export interface CancellationFailure {
  readonly id: string
  readonly error: AppError
}

/** The result of canceling all open requests of a relayer. */
export interface PendingCancellation {
  /** Ids of the canceled transactions, and of those that a no-op replaces. */
  readonly canceled: readonly string[]
  readonly failures: readonly CancellationFailure[]
  /** The number of open requests that were not processed. */
  readonly remaining: number
}

/**
 * The maximum number of transactions in one request. A larger number lets one caller occupy the account for
 * longer.
 */
const MAX_TRANSACTIONS = 1_000

/**
 * No cancellation starts after this time, in ms, so that the answer arrives well before the request times
 * out.
 */
const MAX_MS = 10_000

interface CancelingPending {
  readonly relayer: Relayer
  readonly actor: Actor
  /** Nothing more is canceled when it is aborted. */
  readonly signal: AbortSignal
}

/**
 * Cancels the open requests of callers, newest first, so that an interruption leaves the oldest ones. Each
 * one is canceled separately, and a failure does not stop the others. A paused or disabled relayer cancels
 * only unsigned ones.
 * @throws AppError `relayer_paused` or `relayer_disabled` when none of them could be canceled for that reason
 */
export async function cancelPending(
  context: TransactionsContext,
  replacer: Pick<Replacer, 'cancel'>,
  { relayer, actor, signal }: CancelingPending,
): Promise<PendingCancellation> {
  const refusal = inactive(relayer)
  const { items, total } = await findOpenRequests(
    context.db,
    await accountIdsOf(context.db, relayer),
    MAX_TRANSACTIONS,
  )
  const end = context.clock.monotonic() + MAX_MS
  const canceled: string[] = []
  const failures: CancellationFailure[] = []
  for (const { id, relayerId } of items) {
    if (signal.aborted || context.clock.monotonic() >= end) break
    const account = relayerId === relayer.id ? relayer : ((await context.relayerOf(relayerId)) ?? relayer)
    const error = await cancelOne(context, {
      relayer: account,
      id,
      actor,
      replacer,
    })
    if (error === undefined) canceled.push(id)
    else failures.push({ id, error })
  }
  if (refusal && canceled.length === 0) throw refusal
  return { canceled, failures, remaining: total - canceled.length - failures.length }
}

interface One {
  readonly relayer: Relayer
  readonly id: string
  readonly actor: Actor
  readonly replacer: Pick<Replacer, 'cancel'>
}

async function cancelOne(
  context: TransactionsContext,
  { relayer, id, actor, replacer }: One,
): Promise<AppError | undefined> {
  try {
    await replacer.cancel({ relayer, id, actor, action: 'deletePendingTransactions' })
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) {
      context.log.error({ err: error, relayer: relayer.id, transaction: id }, 'cancellation failed')
      return internalError(error)
    }
    // A concurrent caller may have canceled it.
    const now = await findTransaction(context.db, relayer.id, id)
    return now?.transaction.status === 'canceled' ? undefined : error
  }
}
