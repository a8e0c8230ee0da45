import { AppError } from '../errors.ts'
import { isForeign, type TransactionsContext } from './context.ts'
import { unprovenAttempts } from './open-attempts.ts'
import type { Change } from './refuse-change.ts'
import type { TransactionWithAttempts } from './transaction.ts'

/**
 * What somebody else has signed for a nonce of theirs can be paid more, and nothing else: no other content of ours could
 * take its place.
 */
export function refuseForeign(
  context: TransactionsContext,
  { relayer, request }: Change,
  { transaction, attempts }: TransactionWithAttempts,
): AppError | undefined {
  const operator = context.operatorOf(relayer)
  const place = request && operator.chain.place(request)
  const { line, nonce } = transaction
  if (!isForeign(operator, transaction)) {
    if (place === undefined) return undefined
    return new AppError(
      'not_supported',
      'transaction_xdr: what somebody else has signed has a sequence number of its own and cannot replace this transaction.',
    )
  }
  if (request === undefined) {
    if (unprovenAttempts(attempts).length === 0) return undefined
    return new AppError(
      'not_supported',
      `Its sequence number belongs to ${line}, who has signed it; only that account can cancel it.`,
    )
  }
  if (place?.address === line && place?.nonce === nonce) return undefined
  return new AppError(
    'not_supported',
    `transaction_xdr: the same signed transaction is expected, with a higher max_fee; sequence number ${nonce} belongs to ${line}.`,
  )
}
