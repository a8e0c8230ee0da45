import { AppError, internalError } from '../../errors.ts'
import { inactive } from '../../relayers/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { findOpenRequests } from '../store/queue-store.ts'
import { findTransaction } from '../store/transactions-store.ts'
import type { createReplacer } from './replace.ts'

/** One that could not be called off, and why. */
export interface CancellationFailure {
  readonly id: string
  readonly error: AppError
}

/** What became of calling off everything that waits. */
export interface PendingCancellation {
  /** Canceled, or with a no-op in their place. */
  readonly canceled: readonly string[]
  readonly failures: readonly CancellationFailure[]
  /** How many were not looked at. */
  readonly remaining: number
}

/** Most transactions in one request. A larger number lets one caller occupy the account for longer. */
const MAX_TRANSACTIONS = 1_000

/** No cancellation is begun after this time, in ms, so that the answer comes well before the request times out. */
const MAX_MS = 10_000

/** Calls off what waits, for as long as `signal` is not aborted. */
export type PendingCanceler = (relayer: Relayer, signal: AbortSignal) => Promise<PendingCancellation>

/**
 * Cancels the open transactions that callers have sent, newest first: whatever interrupts this, what is left is the beginning of
 * what was asked for. Each one is canceled like a single one, and none of them stops the others.
 * @throws AppError 400 when the relayer is paused or disabled; nothing is canceled then
 */
export function createPendingCanceler(
  context: TransactionsContext,
  replacer: Pick<ReturnType<typeof createReplacer>, 'cancelTransaction'>,
): PendingCanceler {
  return async (relayer, signal) => {
    const refusal = inactive(relayer)
    if (refusal) throw refusal
    const { ids, total } = await findOpenRequests(context.db, relayer.id, MAX_TRANSACTIONS)
    const end = context.clock.now() + MAX_MS
    const canceled: string[] = []
    const failures: CancellationFailure[] = []
    for (const id of ids) {
      if (signal.aborted || context.clock.now() >= end) break
      const error = await cancelOne(context, { relayer, id, cancel: replacer.cancelTransaction })
      if (error === undefined) canceled.push(id)
      else failures.push({ id, error })
    }
    return { canceled, failures, remaining: total - canceled.length - failures.length }
  }
}

interface One {
  readonly relayer: Relayer
  readonly id: string
  readonly cancel: ReturnType<typeof createReplacer>['cancelTransaction']
}

async function cancelOne(
  context: TransactionsContext,
  { relayer, id, cancel }: One,
): Promise<AppError | undefined> {
  try {
    await cancel(relayer, id)
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) {
      context.log.error({ err: error, relayer: relayer.id, transaction: id }, 'a cancellation failed')
      return internalError(error)
    }
    // Two callers may want the same at the same time.
    const now = await findTransaction(context.db, relayer.id, id)
    return now?.transaction.status === 'canceled' ? undefined : error
  }
}
