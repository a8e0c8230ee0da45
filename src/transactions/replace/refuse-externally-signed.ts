import { AppError } from '../../errors.ts'
import { externalNonceProblem } from '../accept/external-nonces.ts'
import { attemptsAtNonce, unprovenAttempts } from '../model/attempts.ts'
import { isExternallySigned, type TransactionsContext } from '../model/runtime.ts'
import type { Purpose, TransactionWithAttempts } from '../model/transaction.ts'
import type { Change } from './replacement.ts'

/** In these cases the earlier version is not broadcast any more, and the transaction ends when it has expired. */
const AWAITING_EXPIRY: readonly Purpose[] = ['successor', 'cancel']

/**
 * Refuses what the nonce of a third party makes impossible: this service signs no no-op for it, and it assigns the nonces of its own
 * accounts itself. The chain decides about every other change. Returns undefined when the change is allowed.
 */
export function refuseExternallySigned(
  context: TransactionsContext,
  { relayer, request }: Change,
  item: TransactionWithAttempts,
): AppError | undefined {
  const runtime = context.runtimeOf(relayer)
  if (request !== undefined) {
    const externalNonce = runtime.chain.externalSigning?.nonceOf(request)
    return externalNonce && externalNonceProblem(runtime, externalNonce)
  }
  const { transaction } = item
  if (!isExternallySigned(runtime, transaction) || AWAITING_EXPIRY.includes(transaction.purpose))
    return undefined
  if (unprovenAttempts(attemptsAtNonce(item)).length === 0) return undefined
  return new AppError(
    'not_supported',
    `Its sequence number belongs to ${transaction.sourceAccount}, who has signed it; only that account can cancel it.`,
  )
}
